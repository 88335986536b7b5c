/** A PDF as Read shows it: the document itself, when the model could open it. */
import { Buffer } from 'node:buffer';
import type { ToolOutcome } from '../../protocol/tools/tool.js';

/** It goes with every later request of the conversation. */
const LARGEST_PDF = 4 * 1024 * 1024;
/** The Messages API takes no more. */
const MOST_PAGES = 100;
/** Programs write a few bytes after the end mark. */
const END_BYTES = 2_048;

export const showPdf = (path: string, bytes: Uint8Array): ToolOutcome['content'] => {
  const trouble = troubleWith(bytes);
  if (trouble !== undefined) {
    return `${path} is a PDF document ${trouble}, so it is not shown. Take its text with Bash: pdftotext -layout -f 1 -l 20 FILE -`;
  }
  const data = Buffer.from(bytes).toString('base64');
  return [{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }];
};

const troubleWith = (bytes: Uint8Array): string | undefined => {
  if (bytes.length > LARGEST_PDF) {
    return `of ${bytes.length} bytes, more than the ${LARGEST_PDF} that can be sent`;
  }
  const text = Buffer.from(bytes).toString('latin1');
  if (!text.slice(-END_BYTES).includes('%%EOF')) return 'that is cut short or damaged';
  if (/\/Encrypt\s*(?:\d+\s+\d+\s+R|<<)/.test(text)) return 'that is encrypted';
  const pages = text.match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length ?? 0;
  return pages > MOST_PAGES
    ? `of ${pages} pages, more than the ${MOST_PAGES} that can be sent`
    : undefined;
};
