import { EditLeaseMemory } from '../../../src/store/memory/edit-lease-memory.js';
import { describeFileLeases } from '../contracts/edit-leases.js';

describeFileLeases('in memory', () => new EditLeaseMemory());
