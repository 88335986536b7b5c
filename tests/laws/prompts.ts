/** Extracts the prompt of a request body for laws 1 to 3, without cache breakpoints. */

const MARK = /,"cache_control":\{"type":"ephemeral"(?:,"ttl":"[^"]*")?\}/g;

/** Tools, system and messages as in the body, without the end of the messages. */
export const promptOf = (body: Buffer): string => {
  const text = body.toString().replaceAll(MARK, '');
  const start = text.search(/"(?:tools|system)":/);
  if (start === -1 || !text.endsWith(']}')) throw new Error('not a request body of Skein');
  return text.slice(start, -2);
};

/** Describes the first body that does not extend the previous body. */
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
