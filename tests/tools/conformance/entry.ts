/** Data about a tool for the conformance suite. */
import type fc from 'fast-check';
import type { Bench, Result } from './bench.js';

export type Input = Readonly<Record<string, unknown>>;

/** A value, or a function of the bench if it depends on a URL or a path. */
export type Given = unknown;

export interface Case {
  readonly input: Given;
  /** Runs before the call. */
  readonly first?: (bench: Bench) => unknown;
  readonly end: Result['end'];
  readonly says: RegExp;
  /** True if the search without ripgrep returns another result. */
  readonly onlyRipgrep?: boolean;
  /** Checks after the call. */
  readonly after?: (bench: Bench, result: Result) => unknown;
}

export interface Entry {
  readonly tool: string;
  /** Runs before `sample`. */
  readonly first?: (bench: Bench) => unknown;
  /** A valid call. If the tool has effects, a call with an effect. */
  readonly sample: Given;
  /** A call that lasts longer than the test unless it is aborted. */
  readonly endless?: Given;
  readonly endlessFirst?: (bench: Bench) => unknown;
  /** Fails if an aborted call has left a partial effect. */
  readonly whole?: (bench: Bench) => unknown;
  /** Generators for properties that are stricter than their schema. */
  readonly shapes?: Readonly<Record<string, fc.Arbitrary<unknown>>>;
  /** Generators for properties whose schema allows values that are unsafe on this machine. */
  readonly draws?: (bench: Bench) => Readonly<Record<string, fc.Arbitrary<unknown>>>;
  readonly runs?: number;
  /** By name. The name completes the title `handles …`. */
  readonly cases: Readonly<Record<string, Case>>;
}

export const given = (value: Given, bench: Bench): unknown =>
  typeof value === 'function' ? value(bench) : value;
