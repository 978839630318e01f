/**
 * Gives the focus back to a button that was busy, unless something else has it by then. A browser takes the focus from a
 * button that is disabled.
 */
export function keepFocus(): () => void {
  let focused: EventTarget | null = null
  let busy: HTMLElement | undefined
  const noteFocus = ({ target }: FocusEvent) => void (focused = target)
  document.addEventListener('focusin', noteFocus)
  const observer = new MutationObserver((records) => {
    for (const { target } of records) {
      if (!(target instanceof HTMLElement)) continue
      if (target.hasAttribute('data-loading')) {
        if (target === focused) busy = target
      } else if (target === busy) {
        busy = undefined
        const { activeElement } = document
        if (target === focused && (activeElement === null || activeElement === document.body))
          target.focus({ preventScroll: true })
      }
    }
  })
  observer.observe(document, { subtree: true, attributeFilter: ['data-loading'] })
  return () => {
    observer.disconnect()
    document.removeEventListener('focusin', noteFocus)
  }
}
