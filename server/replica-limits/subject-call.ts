import type { Budget } from '../contract/config.ts';
import type { Period } from '../limits/period.ts';

/** The keys and arguments of a subject for a point in time. */
export interface SubjectCall {
  keys: readonly string[];
  args: readonly string[];
  periods: readonly BudgetPeriod[];
}

/** A period for which the subject has budgets. */
export interface BudgetPeriod extends Period {
  per: Budget['per'];
  /** In Valkey. */
  key: string;
  /** As arguments of a script: when it ends, and its hard budgets. */
  args: readonly string[];
  /** When the count of this replica's ledger had begun at the last reply, by Valkey's clock; 0: unknown. */
  begunMs: number;
}
