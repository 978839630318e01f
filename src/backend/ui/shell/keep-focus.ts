/**
 * Keeps the focus of someone who uses the keyboard. A button that was busy gets it back, since a browser takes it from what
 * is disabled. If the element that has it is removed or stays disabled, what took its place gets it, or what is next to that.
 */
export function keepFocus(): void {
  let focused = document.activeElement instanceof HTMLElement ? document.activeElement : undefined
  let busy: HTMLElement | undefined
  let isByKeyboard = true // the key with which this was loaded
  const goOn = (place: Place | undefined) => {
    focused = undefined
    if (isByKeyboard && place !== undefined) focusNear(place)
  }
  const listeners = {
    focusin: ({ target }: Event) => void (focused = target instanceof HTMLElement ? target : undefined),
    focusout: () =>
      queueMicrotask(() => {
        // What was removed, or is hidden by a page that is loading and removed later, is noticed below.
        if (!isLost() || focused === busy || focused?.isConnected !== true || !focused.checkVisibility()) return
        if (focused.matches(':disabled')) goOn(placeAfter(focused))
        else focused = undefined // a click beside all controls
      }),
    keydown: () => void (isByKeyboard = true),
    pointerdown: () => void (isByKeyboard = false),
  }
  for (const [type, listener] of Object.entries(listeners)) document.addEventListener(type, listener, true)
  const observer = new MutationObserver((records) => {
    for (const { target } of records) {
      if (!(target instanceof HTMLElement)) continue
      if (target.hasAttribute('data-loading')) {
        if (target === focused) busy = target
      } else if (target === busy) {
        busy = undefined
        if (target !== focused || !isLost()) continue
        target.focus({ preventScroll: true })
        if (isLost()) goOn(placeAfter(target))
      }
    }
    if (focused?.isConnected === false && isLost()) goOn(findRemoval(records, focused))
  })
  observer.observe(document, { subtree: true, childList: true, attributeFilter: ['data-loading'] })
}

function isLost(): boolean {
  const { activeElement } = document
  return activeElement === null || activeElement === document.body
}

/** A place in the page: in `target`, after `previousSibling`. */
type Place = Pick<MutationRecord, 'target' | 'previousSibling'>

function placeAfter(element: HTMLElement): Place | undefined {
  return element.parentNode === null ? undefined : { target: element.parentNode, previousSibling: element }
}

/** Returns where an element was removed from the page, alone or with what it was in. */
function findRemoval(records: readonly MutationRecord[], element: Element): Place | undefined {
  let gone: Node = element
  return records.find(({ target, removedNodes }) => {
    if (![...removedNodes].some((one) => one.contains(gone))) return false
    gone = target // was removed itself, unless it is still there
    return target.isConnected
  })
}

const controls = 'a[href], button, input, select, textarea, summary, [tabindex]'

/** Focuses the first control after a place, or else the last one before it. Dialogs that close give the focus back themselves. */
function focusNear({ target, previousSibling }: Place): void {
  const around = target instanceof Element ? target.closest<HTMLElement>('[role="dialog"], #content, #root') : null
  if (around === null) return
  // A page or a part of it was replaced: reading begins at its start.
  if (target === around && around.id === 'content') return around.focus({ preventScroll: true })
  const place = document.createRange()
  if (previousSibling?.parentNode === target) place.setStartAfter(previousSibling)
  else place.setStart(target, 0)
  const all = [...around.querySelectorAll<HTMLElement>(controls)].filter(
    (one) => one.tabIndex >= 0 && !one.matches(':disabled') && one.checkVisibility({ visibilityProperty: true }),
  )
  return (all.find((one) => place.comparePoint(one, 0) >= 0) ?? all.at(-1))?.focus()
}
