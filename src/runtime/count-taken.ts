import type { Socket } from 'node:net'

/**
 * Returns the bytes that the operating system has accepted, which it only does if the client takes others. `bytesWritten`
 * of the socket would count those in memory.
 */
export function countTaken(socket: Socket): number {
  const { _handle: handle } = socket as unknown as {
    readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null
  }
  return handle == null ? socket.bytesWritten : handle.bytesWritten - handle.writeQueueSize
}
