import { Skeleton, Stack } from '@mantine/core';

/** Placeholder while a list is loading, as high as `rows` rows. */
export function ListSkeleton({ rows, rowHeight }: { rows: number; rowHeight: number }) {
  const names = Array.from({ length: rows }, (_, index) => `row-${index}`);
  return (
    <Stack gap={0} aria-busy="true">
      {names.map((name) => (
        <div key={name} style={{ height: rowHeight, padding: '12px 14px' }}>
          <Skeleton height={12} width="45%" mb={8} />
          {rowHeight > 44 && <Skeleton height={10} width="70%" />}
        </div>
      ))}
    </Stack>
  );
}
