import type { RequestRecord } from '../contract/ledger.ts';
import type { ControlPlane } from '../control/control-plane.ts';
import { ShadowRunner } from '../exchange/shadow/shadow-runner.ts';
import type { ApiPorts } from '../http/api-request.ts';
import { readJsonBody } from '../http/body/json-body.ts';
import type { Ledger } from '../store/sqlite/ledger.ts';

interface ShadowsPorts {
  ledger: Ledger;
  control: Pick<ControlPlane, 'requestStarted' | 'requestFinished' | 'captureSwitch'>;
  logRequest(record: RequestRecord): void;
}

/** Shadows are recorded and shown like requests of clients, but are not exported to other tools. */
export function openShadows(
  api: Omit<ApiPorts, 'shadows'>,
  { ledger, control, logRequest }: ShadowsPorts,
): ShadowRunner {
  return new ShadowRunner({
    ...api,
    captureSwitch: control.captureSwitch,
    readBody: readJsonBody,
    started(request, reserved) {
      ledger.started(request, reserved);
      control.requestStarted(request);
    },
    finished(record) {
      ledger.finished(record);
      control.requestFinished(record);
      logRequest(record);
    },
    random: Math.random,
  });
}
