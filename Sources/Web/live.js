// A question that is asked again whenever a table changes that its answer was read from.

export class Live {
  #answer;
  #pack;
  #take;
  #failed;
  #tables = [];
  #isAsking = false;
  #isStale = false;
  isOver = false;

  /** `answer` asks it once; its rows go to `take`, and what fails to `failed`. */
  constructor(answer, query, take, failed) {
    this.#answer = answer;
    this.#pack = query.includes(".") ? query.split(".")[0] : undefined;
    this.#take = take;
    this.#failed = failed;
  }

  /** Tables changed, by pack. */
  changed(news) {
    const packs = this.#pack ? [this.#pack] : Object.keys(news);
    const names = packs.flatMap((name) => news[name] ?? []);
    if (names.includes("*") || names.some((name) => this.#tables.includes(name))) this.ask();
  }

  async ask() {
    this.#isStale = this.#isAsking;
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      const answer = await this.#answer();
      this.#tables = answer.tables;
      if (!this.isOver) this.#take(answer.rows);
    } catch (error) {
      this.#failed(error);
    }
    this.#isAsking = false;
    if (this.#isStale && !this.isOver) this.ask();
  }
}
