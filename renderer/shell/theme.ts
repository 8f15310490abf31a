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

/** Surfaces of the dark appearance have a trace of the accent's hue, those of fields included. */
const dark: MantineColorsTuple = [
  '#d6dadc',
  '#bcc3c7',
  '#a4abb0',
  '#838c91',
  '#3d4347',
  '#30363a',
  '#22272a',
  '#1d2022',
  '#16181a',
  '#101214',
];

export const theme = createTheme({
  colors: { water, dark },
  primaryColor: 'water',
  // White text on it is readable, and it contrasts with light and dark surfaces.
  primaryShade: 7,
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily:
    '"Geist Variable", system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", sans-serif',
  fontFamilyMonospace:
    '"Geist Mono Variable", ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  // The scales of base.css.
  fontSizes: {
    xs: 'var(--type-caption)',
    sm: 'var(--type-body)',
    md: 'var(--type-section)',
    lg: 'var(--type-dialog)',
    xl: 'var(--type-screen)',
  },
  spacing: {
    xs: 'var(--space-near)',
    sm: 'var(--space-field)',
    md: 'var(--space-section)',
    lg: '24px',
    xl: 'var(--space-alone)',
  },
  components: {
    // Some are sentences.
    Menu: { styles: { label: { fontWeight: 400 } } },
    InputWrapper: { styles: { label: { marginBottom: 'var(--space-hair)' } } },
    // Browsers centre the text of a select, which is then a pixel above that of the fields beside it.
    NativeSelect: { styles: { input: { paddingTop: 1 } } },
  },
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: 'var(--type-dialog)' }, h2: { fontSize: 'var(--type-section)' } },
  },
});
