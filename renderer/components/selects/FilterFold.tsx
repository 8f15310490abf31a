import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconAdjustmentsHorizontal } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useLocalization } from '../../messages/use-messages.ts';

interface FilterFoldProps {
  /** How many filters are set, for where they are out of sight. */
  count: number;
  /** In sight wherever there is room. */
  usual: ReactNode;
  /** In sight when asked for. */
  more?: ReactNode;
  /** Beside them. */
  children?: ReactNode;
}

/** Whether filters are folded, with what else stands above a list. */
export function useIsFolded(): boolean {
  return useMediaQuery('(max-width: 599px)', false, { getInitialValueInEffect: false });
}

/** The menus of a filter bar and what is beside them. Where they would push the list far down, all are behind one button. */
export function FilterFold({ count, usual, more, children }: FilterFoldProps) {
  const { messages, formats } = useLocalization();
  const { requests: names } = messages;
  const isNarrow = useIsFolded();
  const [isOpen, setOpen] = useState(false);
  const label = isNarrow
    ? isOpen
      ? names.hideFilters
      : names.foldedFilters(count, formats.number(count))
    : isOpen
      ? names.fewerFilters
      : names.moreFilters;
  const button = (isNarrow || more) && (
    <Button
      size="xs"
      variant="default"
      leftSection={<IconAdjustmentsHorizontal size={14} aria-hidden />}
      aria-expanded={isOpen}
      onClick={() => setOpen(!isOpen)}
    >
      {label}
    </Button>
  );
  return (
    <>
      {isNarrow && button}
      {(!isNarrow || isOpen) && usual}
      {isOpen && more}
      {!isNarrow && button}
      {(!isNarrow || isOpen) && children}
    </>
  );
}
