import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

/** One observer for all elements in the same place that scrolls. */
const watchers = new Map<Element | null, Watcher>()

interface Watcher {
  readonly observer: IntersectionObserver
  readonly waiting: Map<Element, () => void>
}

/** How far away things begin to be rendered: about one window. */
const margin = '800px 0px'

/**
 * Whether an element is, or ever was, near the part of the page that is shown. Long lists render what is in their rows
 * only then. For printing, everything is near.
 * @param scroller a selector of the element that scrolls
 */
export function useNear<Type extends Element>(scroller: string) {
  const element = useRef<Type>(null)
  const [isNear, setNear] = useState(false)
  useEffect(() => {
    if (isNear) return undefined
    const target = element.current!
    const { observer, waiting } = watcherOf(target.closest(scroller))
    const stop = () => {
      waiting.delete(target)
      observer.unobserve(target)
    }
    waiting.set(target, () => {
      stop()
      setNear(true)
    })
    observer.observe(target)
    return stop
  }, [isNear])
  return [element, isNear] as const
}

function watcherOf(root: Element | null): Watcher {
  const known = watchers.get(root)
  if (known !== undefined) return known
  for (const other of watchers.keys()) if (other?.isConnected === false) watchers.delete(other)
  const waiting = new Map<Element, () => void>()
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) waiting.get(target)?.()
    },
    { root, rootMargin: margin },
  )
  const made = { observer, waiting }
  watchers.set(root, made)
  return made
}

addEventListener('beforeprint', () => {
  flushSync(() => {
    for (const { waiting } of watchers.values()) for (const show of waiting.values()) show()
  })
})
