/** Base of every error this project throws on purpose; `code` is stable, `message` may change. */
export abstract class SkeinError extends Error {
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** A machine was started before its effects were plugged in. */
export class EmptySlotError extends SkeinError {
  readonly code = 'empty-slot';
  constructor(slot: string) {
    super(`Slot "${slot}" is empty: start the machine through src/actors, or provide() a fake.`);
  }
}

/** What a person typed or configured cannot be used as it is. The command ends with exit code 2. */
export class UsageError extends SkeinError {
  readonly code = 'usage';
}

/** The disk refused what must not be lost. The agent stops with the reason `storage_failed`. */
export class StorageError extends SkeinError {
  readonly code = 'storage';
}
