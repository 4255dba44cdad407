// Types of diario.js. Those of events, commands, views and rows of queries are made of a pack:
// diario schema types PACK --typescript.

/** Milliseconds are dropped nowhere; a text is a time such as 2026-05-01T12:00:00Z. */
export type Time = Date | string;
export type Row = Record<string, unknown>;

/** What failed, and what to do about it. */
export class DiarioError extends Error {
  readonly kind:
    | "invalid" | "rule" | "notFound" | "ambiguous" | "exists" | "full" | "readOnly" | "busy"
    | "corrupt" | "incompatible" | "tooLarge" | "system" | "offline" | "unauthorized"
    | "diverged";
  readonly rule?: string;
  readonly field?: string;
  readonly value?: string;
  readonly remedy?: string;
  /** The line of the event, where several are recorded together. */
  readonly line?: number;
}

export interface Options {
  /** The address of the space: /v1/spaces/NAME of the server that serves this page, or another. */
  url: string;
  /** Without one it does not sync: what is here is read, and more is recorded. */
  token?: string;
  /** "opfs" for files of this origin, "memory" for none; "auto" takes files where there are some. */
  storage?: "auto" | "opfs" | "memory";
  /** Told how far the first copy of the space has come. */
  onProgress?(progress: { bytes?: number; events?: number; of: number }): void;
}

export interface Event {
  type: string;
  payload: object;
  subject?: string;
  at?: Time;
  actor?: string;
}

/** Which events: as the options of `diario log`. */
export interface Wanted {
  /** 100 if it is not given, 1000 at most. */
  limit?: number;
  /** Only events at these positions. The page after one of the newest has `to: lowest - 1`. */
  from?: number;
  to?: number;
  /** Only events that are only here. */
  pending?: boolean;
  /** A type, or all types of a pack: `meals.` */
  type?: string;
  types?: string[];
  subject?: string;
  actor?: string;
  replica?: string;
  /** Only events that were accepted in this time. */
  since?: Time;
  until?: Time;
  /** Events of the authority as well, such as the adoption of a pack. */
  all?: boolean;
  oldestFirst?: boolean;
  bigint?: boolean;
}

/** An event of the log. */
export interface LogEvent {
  type: string;
  version: number;
  payload: Row;
  subject?: string;
  actor?: string;
  at: string;
  ifUnchanged?: true;
  origin: string;
  /** Missing as long as the event is only here. */
  position?: number;
  acceptedAt?: string;
  /** The last position that its author knew. */
  base: number;
  clock: string;
  /** The origin of the first event of its batch. */
  batch: string;
  eventHash: string;
}

/** A proof as `diario prove --json` prints it, and `diario check` reads it. */
export interface Proof {
  proof: "inclusion" | "consistency";
  version: 1;
  space: string;
  lineage: string;
  size: number;
  root: string;
  path: string[];
  position?: number;
  leaf?: string;
  event?: { row: string; acceptedAt: number };
  fromSize?: number;
  fromRoot?: string;
}

/** Own events that the server refused. */
export interface RefusedBatch {
  /** Of its first event. */
  origin: string;
  events: number;
  type?: string;
  keptAt?: string;
  /** Missing if the log does not say that they were refused. */
  rule?: string;
  message?: string;
  /** Where the log says so. */
  position?: number;
  /** The event that broke the rule. */
  event?: string;
  /** The position of the event that got in between. */
  conflict?: number;
  recordedAs?: string;
}

/** An event that a read model left out. */
export interface LeftOut {
  origin: string;
  position?: number;
  type: string;
  version: number;
  model: string;
  rule: string;
  message: string;
}

/** What an event says of a blob. */
export interface BlobFields {
  /** SHA-256 of the stored bytes, in base64. */
  id: string;
  /** Of the bytes themselves. */
  size: number;
  /** The media type. */
  type: string;
  /** In base64; missing if it is public. */
  key?: string;
}

export interface BlobStatus {
  id: string;
  state: "here" | "coming" | "missing" | "refused" | "erased";
  /** Bytes that are stored of it here. */
  stored?: number;
  /** Fields of events that refer to it. */
  events: number;
  /** True if its bytes do not leave the device that recorded it. */
  stays: boolean;
  isRecordedHere: boolean;
  /** Why the server does not take it. */
  message?: string;
}

export interface Status {
  space: string;
  replica: string;
  /** Events of people, those included that have no position yet. */
  events: number;
  /** The last position. */
  head: number;
  /** The hash of all events that have a position. */
  root: string;
  /** Events that are only here. */
  pending: number;
  /** Batches that the server refused. */
  inbox: number;
  /** Events that no read model could apply. */
  quarantined: number;
  saved: "opfs" | "no";
  sync: "idle" | "waiting" | "offline" | "paused";
  lastError?: string;
  actor?: string;
  rights?: string[];
  roles?: string[];
  /** Bytes that the browser gives this origin, and those that it uses. */
  quota?: number;
  usage?: number;
}

/** What a tab hears beside the answers to its own calls. */
export interface News {
  /** Tables whose rows changed, by pack; "*" for all. */
  tables?: Record<string, string[]>;
  /** The last position, if it changed. */
  head?: number;
  /** Blobs that were exchanged. */
  blobs?: { sent: number; fetched: number; refused: number; missing: number; failure?: string };
  sync?: { state: Status["sync"]; lastError?: string };
  /** True if the tab that has the files does not answer. */
  busy?: true;
  problem?: string;
}

export interface Answer {
  events: { type: string; origin?: string; position?: number; payload: object }[];
  result: Row;
  head: number;
}

export interface Asking {
  bigint?: boolean;
  /** Ends the question; without it one ends after 10 s. */
  signal?: AbortSignal;
}

export interface Verification {
  ok: boolean;
  events: number;
  root?: string;
  /** What a crash tore and was never acknowledged. */
  cuts: string[];
  faults: string[];
}

export interface Diary {
  record(type: string, payload: object, more?: Omit<Event, "type" | "payload">):
    Promise<{ origin: string }>;
  batch(events: Event[]): Promise<string[]>;
  run(
    command: string,
    input: object,
    more?: { at?: Time; actor?: string; language?: string; dryRun?: boolean },
  ): Promise<Answer>;
  view(view: string, input: object, more?: { language?: string }): Promise<Row>;
  /** Integers beyond 2^53 come as BigInt; with `bigint` all do. */
  query(query: string, parameters?: object, more?: Asking): Promise<Row[]>;
  sql(select: string, parameters?: object, more?: Asking): Promise<Row[]>;
  /** Calls `take` with the rows now and whenever they may have changed; gives what ends that. */
  live(
    query: string,
    parameters: object,
    take: (rows: Row[]) => void,
    failed?: (error: DiarioError) => void,
  ): () => void;
  on(listener: (news: News) => void): () => void;
  /** Pictures and other bytes, beside the events that refer to them. */
  blobs: {
    /** Durable when it resolves: record the event after that. */
    put(source: Blob | BufferSource, more?: { type?: string; isPublic?: boolean }):
      Promise<BlobFields>;
    /** With `field: "photo"` gives `photoId`, `photoSize`, `photoType` and `photoKey`. */
    put(
      source: Blob | BufferSource,
      more: { field: string; type?: string; isPublic?: boolean },
    ): Promise<Row>;
    /** Fetched if they are not here. */
    get(named: string | BlobFields): Promise<Blob>;
    status(): Promise<BlobStatus[]>;
  };
  status(): Promise<Status>;
  declared(): Promise<{ packs: Row[] }>;
  /** The newest first: those that are only here before those that have a position. */
  events(wanted?: Wanted): Promise<LogEvent[]>;
  /** By position or origin. */
  event(name: number | string): Promise<LogEvent>;
  /**
   * Gives the events from a position on, and then those that come; what it returns ends that.
   * The next event waits for what `take` returns.
   */
  follow(
    from: number,
    take: (event: LogEvent) => unknown,
    more?: Omit<Wanted, "from" | "to" | "limit" | "pending" | "oldestFirst"> & {
      failed?: (error: DiarioError) => void;
    },
  ): () => void;
  /** That an event is in the log: by position or origin, or all the first `from` events. */
  prove(event: number | string, more?: { size?: number; row?: boolean }): Promise<Proof>;
  prove(event: undefined, more: { from: number; size?: number }): Promise<Proof>;
  inbox(): Promise<RefusedBatch[]>;
  refused(origin: string):
    Promise<{ batch: RefusedBatch; events: LogEvent[]; concurrent: LogEvent[] }>;
  recordAgain(origin: string, more?: { force?: boolean }):
    Promise<{ origin: string; recordedAs: string; events: number }>;
  discard(origin: string): Promise<{ origin: string; events: number }>;
  quarantine(): Promise<LeftOut[]>;
  retryQuarantine(): Promise<LeftOut[]>;
  sync(): Promise<Status>;
  verify(): Promise<Verification>;
  export(more?: { pending?: boolean }): Promise<Blob>;
  timings(): Promise<{ longest: Record<string, number>; memory: number }>;
  close(): Promise<void>;
}

export function open(options: Options): Promise<Diary>;
/** Reads the events that are only here of a diary that does not open, as far as they verify. */
export function salvage(options: { url: string }):
  Promise<{ lines: Blob; events: number; ok: boolean; faults: string[] }>;
/** True if an inclusion proof holds; its root must be known from elsewhere. */
export function checkProof(proof: Proof): Promise<boolean>;
/** The hashes of its path from the leaf up, and on which side of the path each lies. */
export function stepsOf(proof: Proof): { hash: string; side: "left" | "right" }[];
/** Removes what this browser has of a space; what is only here is lost. */
export function remove(space: { url: string }): Promise<void>;
