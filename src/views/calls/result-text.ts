/** Returns the text of a journaled tool_result block. */
export const resultText = (raw: string): string => {
  const { content } = JSON.parse(raw) as { readonly content?: unknown };
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as { readonly text?: unknown }[])
    .flatMap((block) => (typeof block?.text === 'string' ? [block.text] : []))
    .join('\n');
};
