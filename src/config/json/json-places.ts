/** Finds the line of each value in a JSON text, and the keys that it has twice. */
import { type JsonListener, scanJson } from './scan-json.js';

export type JsonPath = readonly (string | number)[];

export interface RepeatedKey {
  readonly path: JsonPath;
  /** Line of the last occurrence, which overrides the others. */
  readonly line: number;
  /** Line of the occurrence before it. */
  readonly firstLine: number;
}

export interface JsonPlaces {
  /** Returns the line of a value, from 1. Returns undefined if there is no such value. */
  lineOf(path: JsonPath): number | undefined;
  /** In the order of the text, at most MAX_REPEATED_KEYS. */
  readonly repeated: readonly RepeatedKey[];
}

interface JsonLocation {
  /** Line of the value's key, or of the value itself in a list. */
  readonly line: number;
  /** Locations of the members, by key or index. Undefined for a scalar. */
  members?: Map<string | number, JsonLocation>;
}

const MAX_REPEATED_KEYS = 20;

/** `text` must be valid JSON. Takes linear time. */
export const jsonPlaces = (text: string): JsonPlaces => {
  const collector = new LocationCollector(text);
  scanJson(text, collector);
  return {
    lineOf(path) {
      let location: JsonLocation | undefined = collector.root;
      for (const step of path) location = location?.members?.get(step);
      return location?.line;
    },
    repeated: collector.repeated,
  };
};

class LocationCollector implements JsonListener {
  readonly root: JsonLocation = { line: 1 };
  readonly repeated: RepeatedKey[] = [];
  private readonly text: string;
  private line = 1;
  /** Offset of the end of the current line. */
  private end: number;
  /** Open objects and lists, outermost first. `step` is the key or index of the next value. */
  private readonly openContainers: {
    readonly members: Map<string | number, JsonLocation>;
    step: string | number;
    readonly isList: boolean;
  }[] = [];

  constructor(text: string) {
    this.text = text;
    this.end = text.indexOf('\n');
  }

  key(quoted: string, at: number): void {
    const top = this.openContainers.at(-1);
    if (top === undefined) return;
    top.step = JSON.parse(quoted) as string;
    const line = this.lineAt(at);
    const first = top.members.get(top.step);
    if (first !== undefined && this.repeated.length < MAX_REPEATED_KEYS) {
      this.repeated.push({ path: this.path(), line, firstLine: first.line });
    }
    top.members.set(top.step, { line });
  }

  open(bracket: '{' | '[', at: number): void {
    const isList = bracket === '[';
    const members = new Map<string | number, JsonLocation>();
    this.value(at).members = members;
    this.openContainers.push({ members, step: isList ? 0 : '', isList });
  }

  close(): void {
    this.openContainers.pop();
    this.next();
  }

  scalar(at: number): void {
    this.value(at);
    this.next();
  }

  /** Returns the location of the value that begins here. For an object member, `key` has created it. */
  private value(at: number): JsonLocation {
    const top = this.openContainers.at(-1);
    if (top === undefined) return this.root;
    const existing = top.isList ? undefined : top.members.get(top.step);
    const location = existing ?? { line: this.lineAt(at) };
    top.members.set(top.step, location);
    return location;
  }

  private next(): void {
    const top = this.openContainers.at(-1);
    if (top?.isList === true) top.step = Number(top.step) + 1;
  }

  private path(): JsonPath {
    return this.openContainers.map(({ step }) => step);
  }

  /** Offsets must not decrease between calls, so that each character is read once. */
  private lineAt(at: number): number {
    while (this.end >= 0 && this.end < at) {
      this.line += 1;
      this.end = this.text.indexOf('\n', this.end + 1);
    }
    return this.line;
  }
}
