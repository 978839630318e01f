// The plugins import the face of Waypost, so that they are compiled after it.
declare module '@waypost/plugin-*' {
  const plugin: unknown
  export default plugin
}
