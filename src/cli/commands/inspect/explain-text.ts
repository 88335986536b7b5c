/** Why a call ran or did not, in words for people: five questions, each with its answer. */

import { plural } from '../../../terminal/text/format-numbers.js';
import { clockTime, seconds } from '../../../terminal/text/format-time.js';
import { exactText, firstLines, plainText, uncoloured } from '../../../terminal/text/sanitize.js';
import { shortIds } from '../../../terminal/text/short-ids.js';
import { folded } from '../../../terminal/text/text-fit.js';
import type { CallExplanation, ExplainedRuling } from '../../../views/calls/call-explanation.js';
import type { ListedCall } from '../../../views/calls/call-list.js';
import { subjectText } from '../../../views/calls/call-subject.js';

/** Each block is a question with its answer below. */
export const explainText = (call: CallExplanation, width: number): string => {
  const paper = new Paper(width);
  const { number, tool, turn, askedAt, outcome, durationMs } = call;
  const time = durationMs === null ? '' : ` after ${seconds(durationMs)}`;
  paper.line(`Call ${number}: ${plainText(tool)}, ${outcome}${time}`);
  paper.line(`${call.call}, agent ${plainText(call.agent)}, turn ${turn}, ${clockTime(askedAt)}`);
  if (call.rewoundAt !== null) {
    paper.line(`A rewind of ${clockTime(call.rewoundAt)} took it back.`);
  }
  paper.block('What it was');
  paper.text(exactText(call.input), 12);
  paper.block('What came of it');
  paper.text(call.result === null ? 'Nothing was written down.' : uncoloured(call.result), 20);
  paper.block(deedOf(call));
  tellSteps(call, paper);
  tellRulings(call, paper);
  paper.block('Which hooks ran');
  tellHooks(call, paper);
  paper.block('What it changed on disk, and who had changed that before');
  tellFiles(call, paper);
  paper.block('What the model had seen of it before');
  tellSeen(call, paper);
  return paper.toString();
};

/** A line for each call, for those who look for its number. */
export const callsText = (calls: readonly ListedCall[], width: number): string => {
  if (calls.length === 0) return 'The session has no calls.\n';
  const digits = String(calls.length).length;
  const shown = calls.slice(-MOST_CALLS);
  const ids = shortIds([...new Set(calls.map(({ agent }) => agent))]);
  const lines = shown.map(({ number, tool, outcome, subject, cwd, call, agent }) => {
    const who = ids.size > 1 ? `${plainText(ids.get(agent) ?? agent, 20)}  ` : '';
    const head = `${String(number).padStart(digits)}  ${who}${plainText(tool, 30)}  ${outcome ?? 'open'}`;
    const room = Math.max(10, width - head.length - call.slice(0, 14).length - 4);
    return `${head}  ${call.slice(0, 14)}  ${plainText(subjectText(subject, cwd), room)}`.trimEnd();
  });
  const left = calls.length - shown.length;
  const more = left === 0 ? [] : [`${plural(left, 'earlier call')} not listed; --json has all.`];
  return `${[...more, ...lines].join('\n')}\n`;
};

const MOST_CALLS = 200;

class Paper {
  private readonly lines: string[] = [];
  private readonly width: number;

  constructor(width: number) {
    this.width = width;
  }

  line(text: string, indent = ''): void {
    const pieces = folded(text, this.width - indent.length);
    this.lines.push(...pieces.map((piece) => `${indent}${piece}`.trimEnd()));
  }

  block(title: string): void {
    this.lines.push('');
    this.line(title);
  }

  /** Several lines, indented. */
  text(text: string, most: number): void {
    for (const line of firstLines(text, most)) this.line(line, '  ');
  }

  toString(): string {
    return `${this.lines.join('\n')}\n`;
  }
}

const deedOf = ({ rulings, outcome }: CallExplanation): string => {
  const last = rulings.at(-1);
  if (outcome === 'invalid') return 'Why it did not run';
  if (last === undefined) return 'Why it ran or not';
  if (last.behavior === 'ask') return 'Why it was asked about';
  return last.behavior === 'allow' ? 'Why it ran' : 'Why it did not run';
};

const STEP_WORDS = {
  schema: 'the input fits the tool',
  hooks: 'PreToolUse hooks',
  deny: 'deny rules and what is forbidden',
  ask: 'ask rules and what is always asked',
  mode: 'the permission mode',
  allow: 'allow rules',
  callback: 'a person or a program that answers',
  reject: 'nobody allowed it',
} as const;

const tellSteps = ({ steps, outcome }: CallExplanation, paper: Paper): void => {
  if (outcome === 'invalid') {
    paper.line('Its input does not fit the tool, so nobody was asked.', '  ');
  } else if (steps.length === 0) paper.line('No ruling was written down.', '  ');
  const widest = Math.max(0, ...steps.map(({ step }) => step.length));
  for (const { step, fate } of steps) {
    const mark = ['passed', 'skipped', 'not reached'].includes(fate) ? ' ' : '>';
    paper.line(`${mark} ${step.padEnd(widest)}  ${fate.padEnd(11)}  ${STEP_WORDS[step]}`, ' ');
  }
};

const tellRulings = ({ rulings, questions }: CallExplanation, paper: Paper): void => {
  for (const ruling of rulings) {
    paper.line(
      `${RULED[ruling.behavior]} at ${plainText(ruling.step)}: ${plainText(ruling.reason, 500)}`,
      '  ',
    );
    for (const line of causeOf(ruling)) paper.line(line, '    ');
    if (ruling.instead !== undefined) {
      paper.line(`Otherwise: ${plainText(ruling.instead, 500)}`, '    ');
    }
  }
  for (const { waitedMs, answers } of questions) {
    const waited =
      waitedMs === null ? 'Nobody has answered.' : `The answer took ${seconds(waitedMs)}.`;
    paper.line(waited, '  ');
    for (const { surface, outcome, detail } of answers) {
      const said = detail === '' ? '' : `: ${plainText(detail, 300)}`;
      paper.line(`${plainText(surface)} ${ANSWERED[outcome] ?? outcome}${said}`, '    ');
    }
  }
};

const RULED = { allow: 'Allowed', deny: 'Denied', ask: 'Asked' } as const;
const ANSWERED: Readonly<Record<string, string>> = {
  accepted: 'answered',
  refused: 'gave an answer that does not count',
  failed: 'could not answer',
};

/** The rule with its file and line, the hook, who answered. */
const causeOf = ({ rule, source, file, line, hook, by }: ExplainedRuling): readonly string[] => {
  const at = line === undefined ? '' : `:${line}`;
  const place =
    file === undefined ? (source ?? 'an unknown place') : `${plainText(file, 400)}${at}`;
  return [
    ...(rule === undefined ? [] : [`Rule ${plainText(rule, 300)} of ${place}`]),
    ...(hook === undefined ? [] : [`Hook ${plainText(hook, 300)}`]),
    ...(by === undefined ? [] : [`Answered by ${plainText(by)}`]),
  ];
};

const tellHooks = ({ hooks }: CallExplanation, paper: Paper): void => {
  if (hooks.length === 0) paper.line('None.', '  ');
  for (const { event, hook, outcome, durationMs, detail } of hooks) {
    const said = detail === '' ? '' : `: ${plainText(detail, 300)}`;
    paper.line(`${event} ${plainText(hook)}: ${outcome}, ${seconds(durationMs)}${said}`, '  ');
  }
};

const tellFiles = ({ files, isUnwatched, tool }: CallExplanation, paper: Paper): void => {
  if (files.length === 0) {
    paper.line(
      isUnwatched ? `Nobody watched the disk during ${plainText(tool)}.` : 'Nothing.',
      '  ',
    );
  } else if (isUnwatched) paper.line('Nobody watched the disk; by its input:', '  ');
  for (const { path, change, earlier, earlierMore } of files) {
    const what = change === 'unknown' ? '' : `${change} `;
    paper.line(`${what}${plainText(path, 400)}`, '  ');
    for (const { number, tool: by, ts } of earlier) {
      paper.line(`before by call ${number}, ${plainText(by)}, ${clockTime(ts)}`, '    ');
    }
    if (earlierMore > 0) paper.line(`and by ${plural(earlierMore, 'earlier call')}`, '    ');
  }
};

const tellSeen = ({ seen, seenMore }: CallExplanation, paper: Paper): void => {
  if (seen.length === 0) paper.line('No earlier result mentions it.', '  ');
  for (const { number, tool, isSame, line, text } of seen) {
    const same = isSame ? ', about the same' : '';
    paper.line(`call ${number}, ${plainText(tool)}${same}, line ${line}: ${plainText(text)}`, '  ');
  }
  if (seenMore > 0) paper.line(`and ${plural(seenMore, 'earlier result')}`, '  ');
};
