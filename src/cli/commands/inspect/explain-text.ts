/** Explain text: why a call ran or did not run, as titles with answers. */

import { shortIds } from '../../../terminal/format/short-ids.js';
import { foldLine } from '../../../terminal/text/fit-text.js';
import { plural } from '../../../terminal/text/format-number.js';
import { formatSeconds, formatTime } from '../../../terminal/text/format-time.js';
import { exactText, firstLines, plainText, stripEscapes } from '../../../terminal/text/sanitize.js';
import type { CallExplanation, ExplainedRuling } from '../../../views/calls/call-explanation.js';
import { subjectText } from '../../../views/calls/call-subject.js';
import type { ListedCall } from '../../../views/calls/list-calls.js';

/** Returns the explanation of a call, folded to the width. */
export const explainText = (call: CallExplanation, width: number): string => {
  const page = new TextPage(width);
  const { number, tool, turn, askedAt, outcome, durationMs } = call;
  const time = durationMs === null ? '' : ` after ${formatSeconds(durationMs)}`;
  page.line(`Call ${number}: ${plainText(tool)}, ${outcome}${time}`);
  page.line(`${call.call}, agent ${plainText(call.agent)}, turn ${turn}, ${formatTime(askedAt)}`);
  if (call.rewoundAt !== null) {
    page.line(`A rewind at ${formatTime(call.rewoundAt)} removed this call.`);
  }
  page.block('Input');
  page.text(exactText(call.input), 12);
  page.block('Result');
  page.text(call.result === null ? 'No result was recorded.' : stripEscapes(call.result), 20);
  if (call.orders.length > 0) {
    page.line(
      `The result may give orders to its reader: ${plainText(call.orders.join(', '))}`,
      '  ',
    );
  }
  page.block(rulingTitle(call));
  addSteps(call, page);
  addRulings(call, page);
  page.block('Which hooks ran');
  addHooks(call, page);
  page.block('Files it changed, and earlier calls that changed them');
  addFiles(call, page);
  page.block('Earlier results that mention it');
  addPriorMentions(call, page);
  return page.toString();
};

/** Returns a line per call with its number. */
export const callsText = (calls: readonly ListedCall[], width: number): string => {
  if (calls.length === 0) return 'The session has no calls.\n';
  const digits = String(calls.length).length;
  const shown = calls.slice(-MAX_LISTED_CALLS);
  const ids = shortIds([...new Set(calls.map(({ agent }) => agent))]);
  const lines = shown.map(({ number, tool, outcome, subject, cwd, call, agent }) => {
    const agentLabel = ids.size > 1 ? `${plainText(ids.get(agent) ?? agent, 20)}  ` : '';
    const head = `${String(number).padStart(digits)}  ${agentLabel}${plainText(tool, 30)}  ${outcome ?? 'open'}`;
    const room = Math.max(10, width - head.length - call.slice(0, 14).length - 4);
    return `${head}  ${call.slice(0, 14)}  ${plainText(subjectText(subject, cwd), room)}`.trimEnd();
  });
  const left = calls.length - shown.length;
  const more = left === 0 ? [] : [`${plural(left, 'earlier call')} not listed; --json has all.`];
  return `${[...more, ...lines].join('\n')}\n`;
};

const MAX_LISTED_CALLS = 200;

class TextPage {
  private readonly lines: string[] = [];
  private readonly width: number;

  constructor(width: number) {
    this.width = width;
  }

  line(text: string, indent = ''): void {
    const pieces = foldLine(text, this.width - indent.length);
    this.lines.push(...pieces.map((piece) => `${indent}${piece}`.trimEnd()));
  }

  block(title: string): void {
    this.lines.push('');
    this.line(title);
  }

  /** Adds the first `maxLines` lines, indented. */
  text(text: string, maxLines: number): void {
    for (const line of firstLines(text, maxLines)) this.line(line, '  ');
  }

  toString(): string {
    return `${this.lines.join('\n')}\n`;
  }
}

const rulingTitle = ({ rulings, outcome }: CallExplanation): string => {
  const last = rulings.at(-1);
  if (outcome === 'invalid') return 'Why it did not run';
  if (last === undefined) return 'Why it ran or did not run';
  if (last.behavior === 'ask') return 'Why it was asked about';
  return last.behavior === 'allow' ? 'Why it ran' : 'Why it did not run';
};

const STEP_WORDS = {
  schema: 'the input matches the schema',
  hooks: 'PreToolUse hooks',
  deny: 'deny rules and built-in denials',
  ask: 'ask rules and built-in questions',
  mode: 'the permission mode',
  allow: 'allow rules',
  callback: 'the answer of a person or a program',
  reject: 'no step allowed it',
} as const;

const addSteps = ({ steps, outcome }: CallExplanation, page: TextPage): void => {
  if (outcome === 'invalid') {
    page.line('The input does not match the schema of the tool, so no rule was applied.', '  ');
  } else if (steps.length === 0) page.line('No ruling was recorded.', '  ');
  const widest = Math.max(0, ...steps.map(({ step }) => step.length));
  for (const { step, fate } of steps) {
    const mark = ['passed', 'skipped', 'not reached'].includes(fate) ? ' ' : '>';
    page.line(`${mark} ${step.padEnd(widest)}  ${fate.padEnd(11)}  ${STEP_WORDS[step]}`, ' ');
  }
};

const addRulings = ({ rulings, questions }: CallExplanation, page: TextPage): void => {
  for (const ruling of rulings) {
    page.line(
      `${RULED[ruling.behavior]} at ${plainText(ruling.step)}: ${plainText(ruling.reason, 500)}`,
      '  ',
    );
    for (const line of causeOf(ruling)) page.line(line, '    ');
    if (ruling.instead !== undefined) {
      page.line(`Otherwise: ${plainText(ruling.instead, 500)}`, '    ');
    }
  }
  for (const { waitedMs, answers } of questions) {
    const waited =
      waitedMs === null ? 'No answer was given.' : `The answer took ${formatSeconds(waitedMs)}.`;
    page.line(waited, '  ');
    for (const { surface, outcome, detail } of answers) {
      const suffix = detail === '' ? '' : `: ${plainText(detail, 300)}`;
      page.line(`${plainText(surface)} ${ANSWERED[outcome] ?? outcome}${suffix}`, '    ');
    }
  }
};

const RULED = { allow: 'Allowed', deny: 'Denied', ask: 'Asked' } as const;
const ANSWERED: Readonly<Record<string, string>> = {
  accepted: 'answered',
  refused: 'gave an answer that does not count',
  failed: 'could not answer',
};

/** Returns lines about the rule with its file and line, the hook, and the surface that answered. */
const causeOf = ({ rule, source, file, line, hook, by }: ExplainedRuling): readonly string[] => {
  const at = line === undefined ? '' : `:${line}`;
  const location =
    file === undefined ? (source ?? 'an unknown place') : `${plainText(file, 400)}${at}`;
  return [
    ...(rule === undefined ? [] : [`Rule ${plainText(rule, 300)} of ${location}`]),
    ...(hook === undefined ? [] : [`Hook ${plainText(hook, 300)}`]),
    ...(by === undefined ? [] : [`Answered by ${plainText(by)}`]),
  ];
};

const addHooks = ({ hooks }: CallExplanation, page: TextPage): void => {
  if (hooks.length === 0) page.line('None.', '  ');
  for (const { event, hook, outcome, durationMs, detail, exitCode } of hooks) {
    const exit = exitCode === undefined ? '' : ` (exit code ${exitCode})`;
    const suffix = detail === '' ? '' : `: ${plainText(detail, 300)}`;
    page.line(
      `${event} ${plainText(hook)}: ${outcome}${exit}, ${formatSeconds(durationMs)}${suffix}`,
      '  ',
    );
  }
};

const addFiles = ({ files, isUnwatched, tool }: CallExplanation, page: TextPage): void => {
  if (files.length === 0) {
    page.line(
      isUnwatched ? `File changes were not tracked during ${plainText(tool)}.` : 'None.',
      '  ',
    );
  } else if (isUnwatched) page.line('File changes were not tracked; from its input:', '  ');
  for (const { path, change, earlier, earlierMore } of files) {
    const changeLabel = change === 'unknown' ? '' : `${change} `;
    page.line(`${changeLabel}${plainText(path, 400)}`, '  ');
    for (const { number, tool: earlierTool, ts } of earlier) {
      page.line(`before by call ${number}, ${plainText(earlierTool)}, ${formatTime(ts)}`, '    ');
    }
    if (earlierMore > 0) page.line(`and by ${plural(earlierMore, 'earlier call')}`, '    ');
  }
};

const addPriorMentions = ({ seen, seenMore }: CallExplanation, page: TextPage): void => {
  if (seen.length === 0) page.line('No earlier result mentions it.', '  ');
  for (const { number, tool, isSame, line, text } of seen) {
    const same = isSame ? ', same subject' : '';
    page.line(`call ${number}, ${plainText(tool)}${same}, line ${line}: ${plainText(text)}`, '  ');
  }
  if (seenMore > 0) page.line(`and ${plural(seenMore, 'earlier result')}`, '  ');
};
