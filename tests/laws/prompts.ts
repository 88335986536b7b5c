/** What laws 1 to 3 compare: the prompt inside a request body, cache marks aside. */

const MARK = /,"cache_control":\{"type":"ephemeral"(?:,"ttl":"[^"]*")?\}/g;

/** Tools, system and messages as they stand in the body; the closing of the messages is left open. */
export const promptOf = (body: Buffer): string => {
  const text = body.toString().replaceAll(MARK, '');
  const start = text.search(/"(?:tools|system)":/);
  if (start === -1 || !text.endsWith(']}')) throw new Error('not a request body of ours');
  return text.slice(start, -2);
};

/** The first pair of bodies in which the later one does not extend the earlier one. */
export const firstBreak = (bodies: readonly Buffer[]): string | undefined => {
  const prompts = bodies.map(promptOf);
  for (const [index, prompt] of prompts.entries()) {
    const before = prompts[index - 1];
    if (before === undefined || prompt.startsWith(before)) continue;
    let at = 0;
    while (before[at] === prompt[at]) at += 1;
    const around = before.slice(Math.max(0, at - 40), at + 40);
    return `request ${index} leaves the prompt of request ${index - 1} at ${at}: …${around}…`;
  }
  return undefined;
};
