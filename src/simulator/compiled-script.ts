/** Compiled script: finds the rule that matches a request and returns its replies in order. */
import { UsageError } from '../protocol/skein-error.js';
import { type ApiError, invalidRequest } from './api-error.js';
import type { RequestFacts } from './request-facts.js';
import type { Match, Reply, Script } from './script.js';

export interface CompiledScript {
  /** Returns the next reply for a request. Throws ApiError 400 that quotes the request if no rule matches. */
  nextReply(facts: RequestFacts): Reply;
  /** Like `nextReply`, without consuming the reply. Returns undefined if no rule matches. */
  peekReply(facts: RequestFacts): Reply | undefined;
}

export const compileScript = (script: Script): CompiledScript => {
  const rules = script.rules.map((rule, index) => ({
    matches: matcher(rule.match, `rules.${index}.match`),
    replies: (rule.replies ?? [rule.reply as Reply]).map((reply) => ({
      ...script.defaults,
      ...reply,
    })),
    used: 0,
  }));
  const find = (facts: RequestFacts) => rules.find((rule) => rule.matches(facts));
  return {
    nextReply(facts) {
      const rule = find(facts);
      if (!rule) throw noMatchingRule(facts);
      const reply = rule.replies[Math.min(rule.used++, rule.replies.length - 1)];
      return reply as Reply;
    },
    peekReply(facts) {
      const rule = find(facts);
      return rule?.replies[Math.min(rule.used, rule.replies.length - 1)];
    },
  };
};

type Test = (facts: RequestFacts) => boolean;

const TEXTS = ['model', 'system', 'firstUser', 'lastUser', 'toolResult'] as const;

const matcher = (match: Match, at: string): Test => {
  const tests: Test[] = [];
  const { turn } = match;
  if (typeof turn === 'number') tests.push((facts) => facts.turn === turn);
  else if (turn) {
    const { min = 0, max = Number.POSITIVE_INFINITY } = turn;
    tests.push((facts) => facts.turn >= min && facts.turn <= max);
  }
  for (const name of TEXTS) {
    const pattern = match[name];
    if (pattern === undefined) continue;
    const holds = textTest(pattern, `${at}.${name}`);
    tests.push((facts) => holds(facts[name]));
  }
  return (facts) => tests.every((test) => test(facts));
};

const textTest = (pattern: string, at: string): ((text: string) => boolean) => {
  const [, source, flags] = /^\/(.+)\/([dimsuv]*)$/s.exec(pattern) ?? [];
  if (source === undefined) return (text) => text.includes(pattern);
  try {
    const expression = new RegExp(source, flags);
    return (text) => expression.test(text);
  } catch (cause) {
    const why = (cause as Error).message;
    throw new UsageError(`The script is wrong at ${at}: ${why}.`, { cause });
  }
};

const noMatchingRule = (facts: RequestFacts): ApiError => {
  const { turn, model, lastUser, toolResult, system } = facts;
  const quote = (text: string) =>
    JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
  return invalidRequest(
    `The simulator's script has no rule for this request: turn ${turn}, model ${model}, last user text ${quote(lastUser)}, tool result ${quote(toolResult)}, system ${quote(system)}`,
  );
};
