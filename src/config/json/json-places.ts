/** In which line of a JSON text each value stands, and which keys it has twice. */
import { type JsonListener, scanJson } from './json-scan.js';

export type JsonPath = readonly (string | number)[];

export interface RepeatedKey {
  readonly path: JsonPath;
  /** Of the one that counts: the last. */
  readonly line: number;
  readonly firstLine: number;
}

export interface JsonPlaces {
  /** Counts from 1. Of a key that is not there: undefined. */
  lineOf(path: JsonPath): number | undefined;
  /** In the order of the text; at most so many are told. */
  readonly repeated: readonly RepeatedKey[];
}

/** The line of its key, or of itself in a list; what it holds, by key or by number. */
interface Place {
  readonly line: number;
  /** Most values are none that hold others. */
  within?: Map<string | number, Place>;
}

const MOST_REPEATED = 20;

/** Takes text that JSON.parse has accepted. Linear in its length. */
export const jsonPlaces = (text: string): JsonPlaces => {
  const survey = new Survey(text);
  scanJson(text, survey);
  return {
    lineOf(path) {
      let place: Place | undefined = survey.root;
      for (const step of path) place = place?.within?.get(step);
      return place?.line;
    },
    repeated: survey.repeated,
  };
};

class Survey implements JsonListener {
  readonly root: Place = { line: 1 };
  readonly repeated: RepeatedKey[] = [];
  private readonly text: string;
  private line = 1;
  /** Where this line ends. */
  private end: number;
  /** From the outside in: what is open, and under which key or number the next value goes. */
  private readonly ownOpen: {
    readonly within: Map<string | number, Place>;
    step: string | number;
    readonly isList: boolean;
  }[] = [];

  constructor(text: string) {
    this.text = text;
    this.end = text.indexOf('\n');
  }

  key(quoted: string, at: number): void {
    const top = this.ownOpen.at(-1);
    if (top === undefined) return;
    top.step = JSON.parse(quoted) as string;
    const line = this.lineAt(at);
    const former = top.within.get(top.step);
    if (former !== undefined && this.repeated.length < MOST_REPEATED) {
      this.repeated.push({ path: this.path(), line, firstLine: former.line });
    }
    top.within.set(top.step, { line });
  }

  open(bracket: '{' | '[', at: number): void {
    const isList = bracket === '[';
    const within = new Map<string | number, Place>();
    this.value(at).within = within;
    this.ownOpen.push({ within, step: isList ? 0 : '', isList });
  }

  close(): void {
    this.ownOpen.pop();
    this.next();
  }

  scalar(at: number): void {
    this.value(at);
    this.next();
  }

  /** The place of the value that begins here. A key has made one already. */
  private value(at: number): Place {
    const top = this.ownOpen.at(-1);
    if (top === undefined) return this.root;
    const known = top.isList ? undefined : top.within.get(top.step);
    const place = known ?? { line: this.lineAt(at) };
    top.within.set(top.step, place);
    return place;
  }

  private next(): void {
    const top = this.ownOpen.at(-1);
    if (top?.isList === true) top.step = Number(top.step) + 1;
  }

  private path(): JsonPath {
    return this.ownOpen.map(({ step }) => step);
  }

  /** Asked from left to right, so that each character is looked at once. */
  private lineAt(at: number): number {
    while (this.end >= 0 && this.end < at) {
      this.line += 1;
      this.end = this.text.indexOf('\n', this.end + 1);
    }
    return this.line;
  }
}
