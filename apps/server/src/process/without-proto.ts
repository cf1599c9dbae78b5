/**
 * Takes `__proto__` from the objects of this thread, so that no text of a caller that a careless
 * library copies from object to object can reach the prototype of all of them. Node's flag
 * `--disable-proto=delete` does the same; its `=throw` lets a header of this name end the process,
 * because Node's own code for headers sets it. Import it before everything else, in each thread.
 */
Reflect.deleteProperty(Object.prototype, '__proto__')
