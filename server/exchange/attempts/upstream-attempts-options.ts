import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Settings } from '../../contract/settings.ts';
import type { EventLoopMonitor } from '../../ground/event-loop-monitor.ts';
import type { ToldLimits } from '../../routing/health/told-limits.ts';
import type { Picker } from '../../routing/picker.ts';
import type { JobStore } from '../../store/ports/job-store.ts';
import type { Transport } from '../../transport/transport.ts';
import type { ExchangeCapture } from '../capture/exchange-capture.ts';
import type { FaultInjector } from '../faults/fault-injector.ts';
import type { PreparationPorts } from '../outgoing/prepare-request.ts';
import type { ClientResponseTap } from '../record/client-response-tap.ts';
import type { RequestTrace } from '../record/exchange-trace.ts';

/** The engine's services that a request's attempts need. */
export interface UpstreamAttemptsPorts extends PreparationPorts {
  transport: Transport;
  jobs: JobStore;
  picker: Picker;
  /** Keeps what providers say of their own limits. */
  toldLimits: Pick<ToldLimits, 'note'>;
  eventLoopMonitor: EventLoopMonitor;
  /** Called for internal errors. */
  reportError(error: unknown): void;
}

/** One request, whose attempts are made. */
export interface UpstreamAttemptsOptions {
  ports: UpstreamAttemptsPorts;
  request: IncomingMessage;
  response: ServerResponse;
  settings: Settings;
  trace: RequestTrace;
  /** Null if the request is not captured. */
  capture: ExchangeCapture | null;
  /** Observes the client's response; null if nothing does. */
  tap: ClientResponseTap | null;
  /** Null if the response meets no fault on purpose. */
  faultInjector: FaultInjector | null;
}
