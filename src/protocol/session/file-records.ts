/** Journal records about files: changes by calls, and files restored by rewinds. */
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
    /** Records were lost. From here on the conversation is the part that is left. */
    type: z.literal('journal.repaired'),
    /** Numbers of the first and the last record of each gap. Empty if records were changed, not lost. */
    lost: z.array(z.object({ from: z.number().int(), to: z.number().int() })).readonly(),
    /** Sentences about the damage, with file and line. */
    damage: z.array(z.string()).readonly(),
    /** Text that is sent to the model with the next message. */
    notice: z.object({ letter: z.string(), text: z.string() }),
  }),
  z.object({
    /** Detected file changes of a call. */
    type: z.literal('files.changed'),
    call: z.string(),
    changes: z.array(fileChange).readonly(),
  }),
  z.object({
    /** Written before a call may change files. Used to find the changes after a crash. */
    type: z.literal('files.watched'),
    call: z.string(),
    /** Digest of the blob that lists the files before the call. Left out if it could not be stored. */
    manifest: z.string().optional(),
    /** Files before the call. Only for a call that declares the files that it writes. */
    files: z.array(z.object({ path: z.string(), before: fileState })).optional(),
    /** Why no state could be stored. */
    why: z.string().optional(),
    /** True if the changes are recorded after the end of the call, also if there are none. */
    isDeferred: z.literal(true).optional(),
  }),
  z.object({
    /** Written before a rewind changes the first file, so that an interrupted rewind is detected. */
    type: z.literal('rewind.began'),
    to: z.number().int(),
    changes: z.array(fileChange).readonly(),
    /** Number of the rewind record that this rewind undoes. */
    undoes: z.number().int().optional(),
    /** Name of the temporary files beside the restored files. A later rewind removes them. */
    draft: z.string().optional(),
  }),
  z.object({
    /** A person undid the conversation, the files, or both, after record `to`. */
    type: z.literal('session.rewound'),
    to: z.number().int(),
    conversation: z.boolean(),
    /** File changes of the rewind, so that it can be undone. */
    changes: z.array(fileChange).readonly(),
    /** Text that is sent to the model with the next message, if the model could not know otherwise. */
    notice: z.object({ letter: z.string(), text: z.string() }).optional(),
    /** Number of the rewind record that this rewind undoes. */
    undoes: z.number().int().optional(),
  }),
] as const;
