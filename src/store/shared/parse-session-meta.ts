/** Parses `session.json`, the metadata of a session. */
import { z } from 'zod';
import { SESSION_FORMAT, type SessionMeta } from '../../protocol/session/session-store.js';
import { UsageError } from '../../protocol/skein-error.js';

const schema = z.object({
  format: z.literal(SESSION_FORMAT),
  id: z.string(),
  cwd: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
  lead: z.string(),
  model: z.string(),
  version: z.string(),
  entrypoint: z.string(),
  parentId: z.string().nullable(),
  title: z.string(),
});

/** Throws UsageError that names the file if it is damaged or from a newer version. */
export const parseSessionMeta = (text: string, path: string): SessionMeta => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${path} is not valid JSON; the session cannot be opened.`, {
      cause: error,
    });
  }
  const format = (value as { format?: unknown } | null)?.format;
  if (typeof format === 'number' && format > SESSION_FORMAT) {
    throw new UsageError(
      `${path} was written by a newer skein (format ${format}); update skein to open it.`,
    );
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UsageError(`${path} is damaged at "${issue?.path.join('.')}": ${issue?.message}.`);
  }
  return parsed.data;
};
