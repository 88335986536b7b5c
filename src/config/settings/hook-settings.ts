/**
 * Reads the `hooks` of the settings, in the format that Claude Code uses.
 *
 * A hook with a mistake is ignored, with a warning that names the file, the key and the fix.
 */
import { isRecord } from '../../lib/json/is-record.js';
import { didYouMean } from '../../lib/text/did-you-mean.js';
import { parseHookMatcher } from '../../protocol/permission/hook-matcher.js';
import {
  DEFAULT_HOOK_SECONDS,
  type HookSetup,
  MAX_HOOK_SECONDS,
  MAX_HOOKS_PER_EVENT,
} from '../../protocol/permission/hook-setup.js';
import { HOOK_EVENTS, type HookEvent, UNMATCHED_EVENTS } from '../../protocol/permission/hooks.js';
import type { JsonPath } from '../json/json-places.js';
import type { JsonObject } from '../json/settings-document.js';
import type { MergedSettings, SourcedHooks } from './merge-settings.js';
import { describeValue, settingName } from './settings-warnings.js';

export interface HookSettings {
  readonly setups: readonly HookSetup[];
  readonly warnings: readonly string[];
  /** Ignored hooks, for callers that must not ignore them. The warnings cover them too. */
  readonly refused: readonly RefusedHook[];
}

interface RefusedHook {
  /** Path below the key `hooks`. */
  readonly path: JsonPath;
  /** Clause without a full stop that says what to do. */
  readonly fix: string;
}

/** The setups are in the order of the settings, weakest source first. */
export const readHookSettings = ({ hooks }: Pick<MergedSettings, 'hooks'>): HookSettings => {
  const reader = new HookReader();
  for (const layer of hooks) reader.add(layer);
  return reader;
};

class HookReader implements HookSettings {
  readonly setups: HookSetup[] = [];
  readonly warnings: string[] = [];
  readonly refused: RefusedHook[] = [];
  private describe: (path: JsonPath) => string = settingName;

  add({ value, file, source, lineOf }: SourcedHooks): void {
    const origin =
      file ?? (source === 'flag' || source === 'command' ? 'the command line' : source);
    this.describe = (path) => {
      const line = lineOf(path);
      return `${settingName(['hooks', ...path])} in ${origin}${line === undefined ? '' : `, line ${line},`}`;
    };
    if (!isRecord(value)) {
      this.refuse([], `write an object of events instead of ${describeValue(value)}`);
      return;
    }
    for (const [event, groups] of Object.entries(value)) this.addEvent(event, groups);
  }

  private addEvent(event: string, groups: unknown): void {
    const key: JsonPath = [event];
    if (!isEvent(event)) {
      const suggestion = eventLike(event);
      this.refuse(key, suggestion ? `did you mean ${suggestion}` : 'Skein has no such event');
    } else if (!Array.isArray(groups)) {
      this.refuse(key, `write a list instead of ${describeValue(groups)}`);
    } else {
      for (const [index, group] of groups.entries()) {
        this.addGroup(event, group, [...key, index]);
      }
    }
  }

  private addGroup(event: HookEvent, group: unknown, key: JsonPath): void {
    if (!isRecord(group)) {
      this.refuse(key, `write { "matcher", "hooks" } instead of ${describeValue(group)}`);
      return;
    }
    const { matcher: text = '', hooks } = group;
    if (typeof text !== 'string') {
      this.refuse([...key, 'matcher'], `write a text instead of ${describeValue(text)}`);
      return;
    }
    const matcher = parseHookMatcher(text);
    if ('problem' in matcher) {
      this.refuse([...key, 'matcher'], `${describeValue(text)} ${matcher.problem}`);
      return;
    }
    if (text !== '' && text !== '*' && UNMATCHED_EVENTS.has(event)) {
      this.warnings.push(
        `${this.describe([...key, 'matcher'])} has no effect: ${event} has no matcher, so its hooks always run.`,
      );
    }
    if (!Array.isArray(hooks)) {
      this.refuse([...key, 'hooks'], `write a list instead of ${describeValue(hooks)}`);
      return;
    }
    for (const [index, hook] of hooks.entries()) {
      this.addHook({ event, matches: matcher.matches }, hook, [...key, 'hooks', index]);
    }
  }

  private addHook(rule: Pick<HookSetup, 'event' | 'matches'>, hook: unknown, key: JsonPath): void {
    const mistake = mistakeIn(hook);
    if (mistake !== undefined) {
      this.refuse([...key, ...mistake.key], mistake.why);
      return;
    }
    const { command, timeout = DEFAULT_HOOK_SECONDS, ...rest } = hook as CommandHook;
    if (this.setups.filter(({ event }) => event === rule.event).length >= MAX_HOOKS_PER_EVENT) {
      this.refuse(
        key,
        `${rule.event} already has ${MAX_HOOKS_PER_EVENT} hooks, and no more are run`,
      );
      return;
    }
    const unknown = Object.keys(rest).filter((name) => !KNOWN_KEYS.has(name));
    if (unknown.length > 0) {
      this.warnings.push(
        `${this.describe(key)} runs, but Skein does not know and does not use: ${unknown.join(', ')}.`,
      );
    }
    this.setups.push({
      ...rule,
      action: { kind: 'command', command },
      timeoutMs: Math.min(timeout, MAX_HOOK_SECONDS) * 1_000,
      isAsync: rest.async === true,
      once: rest.once === true,
    });
  }

  private refuse(path: JsonPath, fix: string): void {
    this.refused.push({ path, fix });
    this.warnings.push(`${this.describe(path)} is ignored: ${fix}.`);
  }
}

interface CommandHook extends JsonObject {
  readonly command: string;
  readonly timeout?: number;
}

const KNOWN_KEYS = new Set(['type', 'command', 'timeout', 'statusMessage', 'async', 'once']);

const eventLike = (name: string): HookEvent | undefined => {
  const suggestion = didYouMean(
    name,
    HOOK_EVENTS.map((event) => event.toLowerCase()),
  );
  return HOOK_EVENTS.find((event) => event.toLowerCase() === suggestion);
};

const isEvent = (name: string): name is HookEvent =>
  (HOOK_EVENTS as readonly string[]).includes(name);

const mistakeIn = (hook: unknown): { key: JsonPath; why: string } | undefined => {
  const expected = (key: JsonPath, expectation: string, found: unknown) => ({
    key,
    why: `write ${expectation} instead of ${describeValue(found)}`,
  });
  if (!isRecord(hook)) return expected([], '{ "type": "command", "command" }', hook);
  const { type = 'command', command, timeout, async: isAsync, once } = hook;
  if (type !== 'command') return expected(['type'], '"command", the only supported type,', type);
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
  // A hook with a condition must not run for all calls.
  if (hook.if !== undefined) return { key: ['if'], why: CONDITION };
  return undefined;
};

const CONDITION = 'conditions are not supported; use the matcher, or check tool_input in the hook';
