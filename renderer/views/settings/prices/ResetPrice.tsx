import { ConfirmDialog } from '../../../components/dialogs/ConfirmDialog.tsx';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { describeAmounts, type PriceRowView } from './prices.ts';

/**
 * Asks for confirmation before a custom price is removed, and shows the price that applies then. `row`: null while
 * there is nothing to confirm.
 */
export function ResetPrice({ row, onClose }: { row: PriceRowView | null; onClose(): void }) {
  const localization = useLocalization();
  const { prices: names } = localization.messages;
  const status = useControlState((state) => state.views?.status ?? null);
  const command = useCommand();
  const close = () => {
    command.forget();
    onClose();
  };
  const entry = row?.price?.entry ?? '';
  const reset = async () => {
    if (!status) return;
    const { [entry]: _, ...prices } = status.settings.prices;
    const { revision } = status;
    if (await command.run({ type: 'settings.update', changes: { prices }, expectedRevision: revision })) close();
  };
  const then = row?.builtIn ? describeAmounts(row.builtIn.amounts, localization).join(', ') : null;
  return (
    <ConfirmDialog
      opened={row !== null}
      title={row?.builtIn ? names.resetTitle : names.removeTitle}
      text={then === null ? names.removeText(entry) : names.resetText(entry, then)}
      confirm={row?.builtIn ? names.reset : names.remove}
      isRunning={command.isRunning}
      problem={command.problem}
      onConfirm={() => void reset()}
      onClose={close}
    />
  );
}
