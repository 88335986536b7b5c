/** Shows a PDF to the model as a document block, or explains why it cannot be shown. */
import { Buffer } from 'node:buffer';
import type { ToolOutcome } from '../../protocol/tools/tool.js';

/** Maximum size in bytes, because every later request of the conversation repeats the document. */
const MAX_PDF_BYTES = 4 * 1024 * 1024;
/** Maximum pages of the Messages API. */
const MAX_PAGES = 100;
/** Length of the file end to search for the end mark, because programs append a few bytes. */
const END_BYTES = 2_048;

export const showPdf = (path: string, bytes: Uint8Array): ToolOutcome['content'] => {
  const problem = problemOf(bytes);
  if (problem !== undefined) {
    return `${path} is a PDF document ${problem}, so it is not shown. Take its text with Bash: pdftotext -layout -f 1 -l 20 FILE -`;
  }
  const data = Buffer.from(bytes).toString('base64');
  return [{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }];
};

const problemOf = (bytes: Uint8Array): string | undefined => {
  if (bytes.length > MAX_PDF_BYTES) {
    return `of ${bytes.length} bytes, more than the ${MAX_PDF_BYTES} that can be sent`;
  }
  const text = Buffer.from(bytes).toString('latin1');
  if (!text.slice(-END_BYTES).includes('%%EOF')) return 'that is cut short or damaged';
  if (/\/Encrypt\s*(?:\d+\s+\d+\s+R|<<)/.test(text)) return 'that is encrypted';
  const pages = text.match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length ?? 0;
  return pages > MAX_PAGES
    ? `of ${pages} pages, more than the ${MAX_PAGES} that can be sent`
    : undefined;
};
