/** The account of the person signed in: their usage and API tokens. */
import { Screen } from '../../components/layout/Screen.tsx';
import { TokensSection } from '../../components/tokens/TokensSection.tsx';
import { OwnUsageSection } from './OwnUsageSection.tsx';

export function Account() {
  return (
    <Screen name="account">
      <OwnUsageSection />
      <TokensSection of="me" />
    </Screen>
  );
}
