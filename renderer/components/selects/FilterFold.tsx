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
}

/** The menus of a filter bar. Where they would push the list far down, all of them are behind one button. */
export function FilterFold({ count, usual, more }: FilterFoldProps) {
  const { messages, formats } = useLocalization();
  const { requests: names } = messages;
  const isNarrow = useMediaQuery('(max-width: 599px)', false, { getInitialValueInEffect: false });
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
    </>
  );
}
