import { Drawer } from '@mantine/core'
import { useRef, type ReactNode } from 'react'
import { navTexts } from './nav-texts.ts'

interface NavDrawerProps {
  readonly isOpen: boolean
  readonly children: ReactNode
  onClose(): void
  /** @param isLeft whether a link closed it */
  onClosed(isLeft: boolean): void
}

/** The navigation on narrow screens. It closes with each link, also with that of the page that is shown. */
export function NavDrawer({ isOpen, children, onClose, onClosed }: NavDrawerProps) {
  const isLeft = useRef(false)
  const onExited = () => {
    onClosed(isLeft.current)
    isLeft.current = false
  }
  return (
    <Drawer.Root opened={isOpen} onClose={onClose} onExitTransitionEnd={onExited} returnFocus={false} size={260}>
      <Drawer.Overlay backgroundOpacity={0.4} />
      <Drawer.Content aria-label={navTexts.label}>
        <div
          className="drawer"
          onClick={({ target }) => {
            if (!(target instanceof Element) || target.closest('a') === null) return
            isLeft.current = true
            onClose()
          }}
        >
          <Drawer.CloseButton aria-label={navTexts.close} />
          {children}
        </div>
      </Drawer.Content>
    </Drawer.Root>
  )
}
