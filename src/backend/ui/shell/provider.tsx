import { MantineProvider } from '@mantine/core'
import type { ReactNode } from 'react'
import '../components/print-values.ts'
import { nonce } from '../config.ts'
import { resolver, theme } from '../theme.ts'

/** The look of everything. */
export function Provider({ children }: { readonly children: ReactNode }) {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolver}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      {children}
    </MantineProvider>
  )
}
