import type { Budget } from '../contract/config.ts';
import type { Period } from '../limits/period.ts';

/** The keys and arguments of a party for a point in time. */
export interface PartyCall {
  keys: readonly string[];
  args: readonly string[];
  periods: readonly BudgetPeriod[];
}

/** A period for which the party has budgets. */
export interface BudgetPeriod extends Period {
  per: Budget['per'];
  /** In Valkey. */
  key: string;
}
