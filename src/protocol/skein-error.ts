/** Base of all errors that Skein throws on purpose. `code` is stable, `message` may change. */
export abstract class SkeinError extends Error {
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** A machine was started before its effect slots were filled. */
export class EmptySlotError extends SkeinError {
  readonly code = 'empty-slot';
  constructor(slot: string) {
    super(`Slot "${slot}" is empty: start the machine through src/actors, or provide() a fake.`);
  }
}

/** Invalid input or configuration by a person. The command ends with exit code 2. */
export class UsageError extends SkeinError {
  readonly code = 'usage';
}

/** A write to the store failed. The agent stops with the reason `storage_failed`. */
export class StorageError extends SkeinError {
  readonly code = 'storage';
}

/** The store has lost records of an agent that it had acknowledged. */
export class RecordsLostError extends StorageError {}

/** The server of the store has changed, and the lead has not checked yet whether records are lost. */
export class UncheckedStoreError extends StorageError {}
