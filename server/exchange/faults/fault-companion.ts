/** Faults on purpose (`faults/`). What injects them is loaded with the first request that may get any. */
import type { FaultSwitch } from '../../faults/fault-switch.ts';
import type { AdmittedRequest, Companion, ReceivedCall, Visit } from '../course/companion.ts';
import { ClientGone } from '../request/request-body.ts';

export class FaultCompanion implements Companion {
  readonly #faults: FaultSwitch;

  constructor(faults: FaultSwitch) {
    this.#faults = faults;
  }

  admitted(admitted: AdmittedRequest): Visit | null {
    const { request, match } = admitted;
    return match !== null && this.#faults.concerns(request.headers) ? new FaultVisit(this.#faults, admitted) : null;
  }
}

class FaultVisit implements Visit {
  readonly #faults: FaultSwitch;
  readonly #admitted: AdmittedRequest;

  constructor(faults: FaultSwitch, admitted: AdmittedRequest) {
    this.#faults = faults;
    this.#admitted = admitted;
  }

  /** Resolves with whether a fault took the place of the answer. */
  async received({ match, body, hasLeft }: ReceivedCall): Promise<boolean> {
    const { chooseFaults, injectFaults } = await import('./fault-injector.ts');
    const { request, response, location, trace, member } = this.#admitted;
    trace.model = match.model ?? body.fields.model;
    const call = { request, response, api: location.api, match, member, trace };
    const faults = chooseFaults(this.#faults, call);
    if (faults.length === 0) return false;
    const outcome = await injectFaults(faults, call);
    if (hasLeft()) throw new ClientGone();
    if (outcome === 'answered') return true;
    this.#admitted.outlet = outcome;
    return false;
  }
}
