import { awakeMs } from '../../ground/awake-clock.ts';
import { AttemptPlan } from '../../routing/attempt-plan.ts';
import type { Picker, PickRequest } from '../../routing/picker.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import type { CallPlan } from './plan.ts';
import { policyOf } from './plan-passthrough.ts';

interface PlanPorts {
  picker: Picker;
  request: PickRequest;
}

/** The order of a call's attempts, within its group's policy. */
export function createAttemptPlan(
  { targets, credentialId }: CallPlan,
  call: OutgoingCall,
  ports: PlanPorts,
): AttemptPlan {
  return new AttemptPlan({
    ...ports,
    targets,
    credentialId,
    policy: policyOf(call),
    now: awakeMs,
    random: Math.random,
  });
}
