import type { LocateDefinition } from '../../operate/index.ts'
import type { Draft } from './draft.ts'
import { isExceeded } from './thread/draft-thread.ts'

/** Finds the entries of a definition in the thread of the draft; nothing if it is too large. */
export function locateIn(draft: Pick<Draft, 'thread'> | undefined): LocateDefinition | undefined {
  if (draft === undefined) return undefined
  return async (texts) => {
    try {
      return await draft.thread.ask('locateAll', { texts })
    } catch (error) {
      if (!isExceeded(error)) throw error
      return { places: new Map(), actions: new Map(), inherited: new Map() }
    }
  }
}
