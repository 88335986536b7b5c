import { EditLeaseMemory } from '../../../src/store/memory/edit-lease-memory.js';
import { describeEditLeases } from '../contracts/edit-leases.js';

describeEditLeases('in memory', () => new EditLeaseMemory());
