// The events of a diary in their order, as they come.

/** Events that are asked for at once. */
const COUNT = 200;

/**
 * Gives the events of `diary` from a position on to `take`, and then those that come; what it
 * returns ends that. `head` tells the last position.
 */
export function follow(diary, head, from, take, failed, wanted) {
  let next = from;
  let isOver = false;
  let wake = () => {};
  const stop = diary.on((news) => {
    if (news.head === undefined) return;
    // Another history took the place of this one.
    if (news.head < next - 1) next = 1;
    wake();
  });
  const giveUpTo = async (last) => {
    while (next <= last && !isOver) {
      const range = { from: next, to: last, oldestFirst: true, limit: COUNT };
      const events = await diary.events({ ...wanted, ...range });
      for (const event of events) {
        if (isOver) return;
        next = event.position + 1;
        await take(event);
      }
      if (events.length < COUNT) next = Math.max(next, last + 1);
    }
  };
  const run = async () => {
    while (!isOver) {
      const news = new Promise((resolve) => {
        wake = resolve;
      });
      await giveUpTo(await head());
      await news;
    }
  };
  run().catch((error) => {
    if (!isOver) failed(error);
  });
  return () => {
    isOver = true;
    stop();
    wake();
  };
}
