/**
 * The `hooks` of the settings, in the shape that people already have. A mistake costs the hook that
 * it is in, and a sentence that names file, key and fix.
 */
import { parseMatcher } from '../../protocol/permission/hook-matcher.js';
import {
  DEFAULT_HOOK_SECONDS,
  type HookSetup,
  MOST_HOOK_SECONDS,
  MOST_HOOKS,
} from '../../protocol/permission/hook-setup.js';
import { HOOK_EVENTS, type HookEvent, UNMATCHED_EVENTS } from '../../protocol/permission/hooks.js';
import { nearest } from '../json/did-you-mean.js';
import type { JsonPath } from '../json/json-places.js';
import type { MergedSettings, SourcedHooks } from './merge-settings.js';
import { isObject, type JsonObject } from './settings-file.js';
import { describe, nameOf } from './settings-warnings.js';

export interface HookReading {
  readonly setups: readonly HookSetup[];
  readonly warnings: readonly string[];
  /** What was left out, for whoever cannot do without; the warnings tell of it too. */
  readonly refused: readonly RefusedHook[];
}

export interface RefusedHook {
  /** Below `hooks`. */
  readonly path: JsonPath;
  /** What to do, without a full stop. */
  readonly fix: string;
}

/** In the order of the settings, weakest source first. */
export const readHooks = ({ hooks }: Pick<MergedSettings, 'hooks'>): HookReading => {
  const reader = new HookReader();
  for (const layer of hooks) reader.take(layer);
  return reader;
};

class HookReader implements HookReading {
  readonly setups: HookSetup[] = [];
  readonly warnings: string[] = [];
  readonly refused: RefusedHook[] = [];
  private about: (path: JsonPath) => string = nameOf;

  take({ value, file, source, lineOf }: SourcedHooks): void {
    const place = file ?? (source === 'flag' || source === 'command' ? 'the command line' : source);
    this.about = (path) => {
      const line = lineOf(path);
      return `${nameOf(['hooks', ...path])} in ${place}${line === undefined ? '' : `, line ${line},`}`;
    };
    if (!isObject(value)) {
      this.refuse([], `write an object of events instead of ${describe(value)}`);
      return;
    }
    for (const [event, groups] of Object.entries(value)) this.takeEvent(event, groups);
  }

  private takeEvent(event: string, groups: unknown): void {
    const key: JsonPath = [event];
    if (!isEvent(event)) {
      const near = eventLike(event);
      this.refuse(key, near ? `did you mean ${near}` : 'Skein has no such event');
    } else if (!Array.isArray(groups)) {
      this.refuse(key, `write a list instead of ${describe(groups)}`);
    } else {
      for (const [index, group] of groups.entries()) {
        this.takeGroup(event, group, [...key, index]);
      }
    }
  }

  private takeGroup(event: HookEvent, group: unknown, key: JsonPath): void {
    if (!isObject(group)) {
      this.refuse(key, `write { "matcher", "hooks" } instead of ${describe(group)}`);
      return;
    }
    const { matcher: text = '', hooks } = group;
    if (typeof text !== 'string') {
      this.refuse([...key, 'matcher'], `write a text instead of ${describe(text)}`);
      return;
    }
    const matcher = parseMatcher(text);
    if ('problem' in matcher) {
      this.refuse([...key, 'matcher'], `${describe(text)} ${matcher.problem}`);
      return;
    }
    if (text !== '' && text !== '*' && UNMATCHED_EVENTS.has(event)) {
      this.warnings.push(
        `${this.about([...key, 'matcher'])} means nothing: ${event} has nothing to match, so its hooks always run.`,
      );
    }
    if (!Array.isArray(hooks)) {
      this.refuse([...key, 'hooks'], `write a list instead of ${describe(hooks)}`);
      return;
    }
    for (const [index, hook] of hooks.entries()) {
      this.takeHook({ event, matches: matcher.matches }, hook, [...key, 'hooks', index]);
    }
  }

  private takeHook(rule: Pick<HookSetup, 'event' | 'matches'>, hook: unknown, key: JsonPath): void {
    const trouble = troubleWith(hook);
    if (trouble !== undefined) {
      this.refuse([...key, ...trouble.key], trouble.why);
      return;
    }
    const { command, timeout = DEFAULT_HOOK_SECONDS, ...rest } = hook as CommandHook;
    if (this.setups.filter(({ event }) => event === rule.event).length >= MOST_HOOKS) {
      this.refuse(key, `${rule.event} has ${MOST_HOOKS} hooks already, and more are not run`);
      return;
    }
    const unknown = Object.keys(rest).filter((name) => !KNOWN_KEYS.has(name));
    if (unknown.length > 0) {
      this.warnings.push(
        `${this.about(key)} runs, but Skein does not know and does not use: ${unknown.join(', ')}.`,
      );
    }
    this.setups.push({
      ...rule,
      work: { kind: 'command', command },
      timeoutMs: Math.min(timeout, MOST_HOOK_SECONDS) * 1_000,
      isAsync: rest.async === true,
      once: rest.once === true,
    });
  }

  private refuse(path: JsonPath, fix: string): void {
    this.refused.push({ path, fix });
    this.warnings.push(`${this.about(path)} is ignored: ${fix}.`);
  }
}

interface CommandHook extends JsonObject {
  readonly command: string;
  readonly timeout?: number;
}

const KNOWN_KEYS = new Set(['type', 'command', 'timeout', 'statusMessage', 'async', 'once']);

const eventLike = (name: string): HookEvent | undefined => {
  const meant = nearest(
    name,
    HOOK_EVENTS.map((event) => event.toLowerCase()),
  );
  return HOOK_EVENTS.find((event) => event.toLowerCase() === meant);
};

const isEvent = (name: string): name is HookEvent =>
  (HOOK_EVENTS as readonly string[]).includes(name);

const troubleWith = (hook: unknown): { key: JsonPath; why: string } | undefined => {
  const expected = (key: JsonPath, what: string, found: unknown) => ({
    key,
    why: `write ${what} instead of ${describe(found)}`,
  });
  if (!isObject(hook)) return expected([], '{ "type": "command", "command" }', hook);
  const { type = 'command', command, timeout, async: isAsync, once } = hook;
  if (type !== 'command') return expected(['type'], '"command", which is all there is,', type);
  if (typeof command !== 'string' || command.trim() === '' || command.includes('\0')) {
    return expected(['command'], 'a command line', command);
  }
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout > 0)) {
    return expected(['timeout'], 'seconds, more than 0', timeout);
  }
  if (isAsync !== undefined && typeof isAsync !== 'boolean') {
    return expected(['async'], 'true or false', isAsync);
  }
  if (once !== undefined && typeof once !== 'boolean') {
    return expected(['once'], 'true or false', once);
  }
  // A hook that is meant for few calls must not decide about all of them.
  if (hook.if !== undefined) return { key: ['if'], why: CONDITION };
  return undefined;
};

const CONDITION =
  'conditions are not supported; use the matcher, or look at tool_input in the hook';
