/** `session.json`: what is known of a session without reading its journals. */
import { z } from 'zod';
import { UsageError } from '../../protocol/errors.js';
import { SESSION_FORMAT, type SessionMeta } from '../../protocol/session/store.js';

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

/** Throws a UsageError that names the file when it is damaged or from a newer version. */
export const parseMeta = (text: string, path: string): SessionMeta => {
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

/** Ids become file names, and people may give their own. */
export const isSessionId = (id: string): boolean => /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id);

/** Where one process at a time owns a session, nobody else works on a part of it. */
export const notVisited = (id: string): UsageError =>
  new UsageError(
    `Only the process that runs session ${id} works on it: set SKEIN_REDIS_URL to have workers.`,
  );

export const checkSessionId = (id: string): string => {
  if (!isSessionId(id)) {
    throw new UsageError(
      `"${id.slice(0, 80)}" cannot be a session id: use up to 64 letters, digits, - and _.`,
    );
  }
  return id;
};
