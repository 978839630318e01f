import { setFlagsFromString } from 'node:v8'

/**
 * Starts something whose code makes much that is thrown away at once. V8 would double the room for young objects for it
 * again and again, and never give it back: a fifth of the memory of a server that has nothing to do. Later it may.
 */
export async function startLean<Value>(start: () => Promise<Value>): Promise<Value> {
  setFlagsFromString('--semi-space-growth-factor=1')
  try {
    return await start()
  } finally {
    setFlagsFromString('--semi-space-growth-factor=2') // V8's own
  }
}
