import { setFlagsFromString } from 'node:v8'

/**
 * Starts something that creates much short-lived garbage. V8 would repeatedly double the young generation and never
 * shrink it, a fifth of the memory of an idle server. The limit is removed afterwards.
 */
export async function limitHeapGrowth<Value>(start: () => Promise<Value>): Promise<Value> {
  setFlagsFromString('--semi-space-growth-factor=1')
  try {
    return await start()
  } finally {
    setFlagsFromString('--semi-space-growth-factor=2') // the default of V8
  }
}
