import { useEffect, useState } from 'react'

/**
 * Gives the focus back to what opened the dialog that is unmounted, or to the page if that is gone. `Modal` does so only if it
 * stays mounted while it is closed.
 */
export function useFocusReturn(): void {
  const [opener] = useState(findOpener)
  useEffect(
    () => () => {
      requestAnimationFrame(() => {
        const { activeElement } = document
        const isLost = activeElement === null || activeElement === document.body || !activeElement.isConnected
        if (!isLost) return
        if (opener?.isConnected === true && opener !== document.body) opener.focus()
        else document.querySelector<HTMLElement>('#content')?.focus({ preventScroll: true })
      })
    },
    [opener],
  )
}

/** The focused element. An item of a menu is gone when the dialog closes: the button of the menu. */
function findOpener(): HTMLElement | undefined {
  const { activeElement } = document
  const target = activeElement?.closest('[role="menu"]')?.getAttribute('aria-labelledby')
  const found = typeof target === 'string' ? document.getElementById(target) : activeElement
  return found instanceof HTMLElement ? found : undefined
}
