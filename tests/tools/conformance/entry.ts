/** What the conformance suite wants to know of one tool. */
import type fc from 'fast-check';
import type { Bench, Result } from './bench.js';

export type Input = Readonly<Record<string, unknown>>;

/** Any value, or a function of the bench where that must be known first: an address, a path. */
export type Given = unknown;

export interface Case {
  readonly input: Given;
  /** Calls, or anything else, that must have happened first. */
  readonly first?: (bench: Bench) => unknown;
  readonly end: Result['end'];
  readonly says: RegExp;
  /** The search that there is without a ripgrep answers otherwise. */
  readonly onlyRipgrep?: boolean;
  /** What must be so afterwards. */
  readonly after?: (bench: Bench, result: Result) => unknown;
}

export interface Entry {
  readonly tool: string;
  /** What must have happened before `sample` can work. */
  readonly first?: (bench: Bench) => unknown;
  /** A call that works; where the tool has effects, one that has one. */
  readonly sample: Given;
  /** A call that would go on for longer than the test, unless it is stopped. */
  readonly endless?: Given;
  readonly endlessFirst?: (bench: Bench) => unknown;
  /** Fails when a call that was called off has left half of an effect. */
  readonly whole?: (bench: Bench) => unknown;
  /** What to draw for a property that is stricter than its schema can say. */
  readonly shapes?: Readonly<Record<string, fc.Arbitrary<unknown>>>;
  /** What to draw for a property, where its schema allows what this machine should be spared. */
  readonly draws?: (bench: Bench) => Readonly<Record<string, fc.Arbitrary<unknown>>>;
  readonly runs?: number;
  /** By what they are about, in words that finish `answers …`. */
  readonly cases: Readonly<Record<string, Case>>;
}

export const given = (value: Given, bench: Bench): unknown =>
  typeof value === 'function' ? value(bench) : value;
