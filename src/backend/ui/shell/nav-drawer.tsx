import { Drawer } from '@mantine/core'
import type { ReactNode } from 'react'
import { navTexts } from './nav-texts.ts'

interface NavDrawerProps {
  readonly isOpen: boolean
  readonly children: ReactNode
  onClose(): void
}

/** The navigation on narrow screens. */
export function NavDrawer({ isOpen, children, onClose }: NavDrawerProps) {
  return (
    <Drawer.Root opened={isOpen} onClose={onClose} size={260}>
      <Drawer.Overlay backgroundOpacity={0.4} />
      <Drawer.Content aria-label={navTexts.label}>
        <div className="drawer">
          <Drawer.CloseButton aria-label={navTexts.close} />
          {children}
        </div>
      </Drawer.Content>
    </Drawer.Root>
  )
}
