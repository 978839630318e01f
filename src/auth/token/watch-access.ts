import type { Feed } from '../../store/index.ts'

/** Checks again and again whether access that was given before still holds. */
export interface AccessWatcher {
  /**
   * @param check throws, or rejects, if the access has ended
   * @param ended called once
   * @returns a function that ends the watch
   */
  watch(check: () => unknown, ended: () => void): () => void
  close(): void
}

export interface WatcherOptions {
  readonly feed: Pick<Feed, 'listen'>
  /** Repeats what notices that tokens expire; by default each second. @returns a function that ends it */
  repeat?(check: () => void): () => void
}

interface Watch {
  readonly check: () => unknown
  readonly ended: () => void
  isChecking: boolean
}

/**
 * Makes a watcher, which checks after each change in System, and regularly. Changes of a burst are checked together. Without
 * watches, it does nothing.
 */
export function makeAccessWatcher({ feed, repeat = eachSecond }: WatcherOptions): AccessWatcher {
  const watches = new Set<Watch>()
  let stopRepeating: (() => void) | undefined
  let pending: NodeJS.Timeout | undefined

  const end = (one: Watch) => {
    if (watches.delete(one)) one.ended()
    stopIfIdle()
  }
  const stopIfIdle = () => {
    if (watches.size > 0) return
    stopRepeating?.()
    stopRepeating = undefined
    clearTimeout(pending)
    pending = undefined
  }
  const checkOne = (one: Watch) => {
    if (one.isChecking) return // for example while System does not respond
    try {
      const checked = one.check()
      if (!(checked instanceof Promise)) return
      one.isChecking = true
      checked.then(
        () => (one.isChecking = false),
        () => end(one),
      )
    } catch {
      end(one)
    }
  }
  const checkAll = () => {
    pending = undefined
    for (const one of watches) checkOne(one)
  }
  const stopListening = feed.listen(() => {
    if (watches.size > 0) pending ??= setTimeout(checkAll, burstMs).unref()
  })

  return {
    watch(check, ended) {
      const one: Watch = { check, ended, isChecking: false }
      watches.add(one)
      stopRepeating ??= repeat(checkAll)
      return () => {
        watches.delete(one)
        stopIfIdle()
      }
    },
    close() {
      stopListening()
      watches.clear()
      stopIfIdle()
    },
  }
}

const burstMs = 100

function eachSecond(check: () => void): () => void {
  const timer = setInterval(check, 1000).unref()
  return () => clearInterval(timer)
}
