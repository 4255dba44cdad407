/// The rules of the pack `fish`: how long a fish is, whether it may be bought, and what is said of
/// it.
public enum Fish {}
