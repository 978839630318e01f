import { Type, type TProperties } from 'typebox'

// Parts of the schemas of several routes.

/** An object without other properties. */
export function record<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false })
}

export const text = Type.String()
/** RFC 3339, in UTC. */
export const time = Type.String({ format: 'date-time' })

export const maybeText = Type.Union([text, Type.Null()])

/** Converts milliseconds since 1970. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString()
}
