/** The records of a journal that speak of files: what calls changed, and what rewinds put back. */
import { z } from 'zod';

const fileState = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['file', 'link']), digest: z.string(), mode: z.number().int() }),
  z.object({ kind: z.literal('directory'), mode: z.number().int() }),
  z.object({ kind: z.literal('absent') }),
  z.object({ kind: z.literal('unknown'), why: z.string() }),
]);

const fileChange = z.object({ path: z.string(), before: fileState, after: fileState });

export const FILE_RECORDS = [
  z.object({
    /** What a call changed on disk, as far as it was seen. */
    type: z.literal('files.changed'),
    call: z.string(),
    changes: z.array(fileChange).readonly(),
  }),
  z.object({
    /** Written before a call may change files: what is needed to find out after a crash. */
    type: z.literal('files.watched'),
    call: z.string(),
    /** The blob that lists the files as they were; left out when nothing could be kept. */
    manifest: z.string().optional(),
    /** The files as they were, for a call that says which it writes. */
    files: z.array(z.object({ path: z.string(), before: fileState })).optional(),
    /** Why nothing was kept. */
    why: z.string().optional(),
  }),
  z.object({
    /** Written before a rewind touches the first file, so that one that was cut off is known. */
    type: z.literal('rewind.began'),
    to: z.number().int(),
    changes: z.array(fileChange).readonly(),
  }),
  z.object({
    /** A person took back what came after record `to`: the conversation, the files, or both. */
    type: z.literal('session.rewound'),
    to: z.number().int(),
    conversation: z.boolean(),
    /** What that did to files, so that it can be taken back too. */
    changes: z.array(fileChange).readonly(),
    /** What the agent is told with its next message, where it would not know otherwise. */
    notice: z.object({ letter: z.string(), text: z.string() }).optional(),
    /** It takes back the rewind that is this record. */
    undoes: z.number().int().optional(),
  }),
] as const;
