import { useControlState } from '../control/use-control.ts';

/** Whether commands can succeed: the engine answers and may write its configuration. */
export function useCanChange(): boolean {
  return useControlState((state) => state.connection === 'open' && state.views?.status.readOnly === false);
}
