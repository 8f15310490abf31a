import { createTheme, type MantineColorsTuple } from '@mantine/core';

/** The accent colour, for interactive elements. */
const water: MantineColorsTuple = [
  '#eaf6f8',
  '#d5ebef',
  '#aad7df',
  '#7cc2cf',
  '#57b1c1',
  '#3ea4b6',
  '#2b8a9c',
  '#1c7687',
  '#135f6e',
  '#0b4a56',
];

export const theme = createTheme({
  colors: { water },
  primaryColor: 'water',
  // White text on it is readable, and it contrasts with light and dark surfaces.
  primaryShade: 7,
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  // Some are sentences.
  components: { Menu: { styles: { label: { fontWeight: 400 } } } },
  headings: { fontWeight: '600', sizes: { h1: { fontSize: '1rem' }, h2: { fontSize: '0.875rem' } } },
});
