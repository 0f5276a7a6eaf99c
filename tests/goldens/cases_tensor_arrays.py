"""`tf.TensorArray`."""

from goldens.case import Group

GROUP = Group("""
TA = tf.TensorArray
def w(n, dyn=False, **k):
    ta = TA(tf.float32, n, dynamic_size=dyn, **k)
    for i in range(n):
        ta = ta.write(i, [float(i), float(i)])
    return ta
""")

# Reading, writing, stacking.

GROUP.values("""
TA(tf.float32,3).size()
TA(tf.float32,size=tf.constant(3)).size()
TA(tf.float32,size=3).dtype
TA(tf.float32,size=3).element_shape
TA(tf.float32,size=3,element_shape=[2]).element_shape
TA(tf.float32,size=3).dynamic_size
TA('float32',size=3).dtype
TA(tf.float32,3,element_shape=[2]).read(0)
TA(tf.float32,0,dynamic_size=True).write(3,1.).size()
TA(tf.float32,0,dynamic_size=True).write(3,1.).stack()
TA(tf.float32,0,dynamic_size=True).write(2,[1.,1.]).stack()
TA(tf.float32,3).write(tf.constant(0),1.).read(tf.constant(0))
TA(tf.float32,3).write(np.int64(0),1.).read(0)
w(3).stack()
w(3).read(1)
w(3).read(tf.constant(1))
[w(3) for _ in [0]][0].write(1,[5.,5.]).stack()
w(3,infer_shape=False).write(1,[5.]).read(1)
w(3,element_shape=[None]).stack()
w(3,element_shape=[None]).element_shape
w(3).element_shape
w(3).concat()
w(3).gather([0,2])
w(3).gather([2,0,0])
w(3).gather(tf.constant([0,1]))
TA(tf.float32,3,element_shape=[2]).stack()
TA(tf.float32,0).stack()
TA(tf.float32,0,element_shape=[2]).stack()
TA(tf.float32,3).unstack([[1.],[2.],[3.]]).stack()
TA(tf.float32,3).unstack([[1.],[2.]]).stack()
TA(tf.float32,1,dynamic_size=True).unstack([[1.],[2.]]).size()
TA(tf.float32,3).unstack([1,2,3]).stack()
TA(tf.float32,3).unstack(tf.constant([1,2,3])).stack()
TA(tf.float32,3).scatter([0,2],[[1.],[2.]]).stack()
TA(tf.float32,3).scatter([0,2],[[1.],[2.]]).read(2)
TA(tf.float32,3,dynamic_size=True).scatter([0,5],[[1.],[2.]]).size()
TA(tf.float32,3).split([1.,2.,3.,4.],[1,2,1]).read(1)
TA(tf.float32,3).split([1.,2.,3.,4.],[1,2,1]).concat()
TA(tf.float32,3,infer_shape=False).split([1.,2.,3.,4.],[1,2,1]).concat()
TA(tf.float32,3,infer_shape=False).split([1.,2.,3.,4.],[1,2,1]).read(1)
TA(tf.float32,2).split([1.,2.,3.,4.],[2,2]).stack()
TA(tf.float32,3).close()
TA(tf.string,2).write(0,'a').write(1,'b').stack()
TA(tf.string,2).write(0,'a').stack()
TA(tf.int32,2).write(0,1).stack()
TA(tf.bool,2).write(0,True).stack()
TA(tf.float32,2).write(0,tf.Variable(1.)).read(0)
TA(tf.float32,0,dynamic_size=True,infer_shape=False).write(0,[1.]).write(1,[1.,2.]).concat()
TA(tf.float32,2,clear_after_read=False).write(0,1.).write(1,2.).stack()
""")

GROUP.errors("""
TA(tf.float32)
TA(tf.float32,3).read(0)
TA(tf.float32,3).read(3)
TA(tf.float32,3).read(-1)
TA(tf.float32,3).write(3,1.)
TA(tf.float32,3).write(-1,1.)
TA(tf.float32,0,dynamic_size=True).write(-1,1.)
TA(tf.float32,0).write(0,1.)
TA(tf.float32,3).write(0,tf.constant(1))
w(3).write(1,[5.])
w(3).write(1,[5.,5.,5.])
w(3,infer_shape=False).write(1,[5.]).stack()
w(3,element_shape=[3])
w(3).gather([5])
TA(tf.float32,3).stack()
TA(tf.float32,0).concat()
TA(tf.float32,1).unstack([[1.],[2.]]).stack()
TA(tf.float32,1).unstack([[1.],[2.]]).size()
TA(tf.float32,1).unstack(1.)
TA(tf.float32,3).scatter([0,5],[[1.],[2.]])
TA(tf.float32,3,infer_shape=False).split([1.,2.,3.,4.],[1,2,1]).stack()
TA(tf.float32,3).split([1.,2.,3.,4.],[1,2])
TA(tf.float32,3).split([1.,2.,3.,4.],[1,1,1])
TA(tf.float32,3).grad('x')
w(3).grad('x').stack()
TA(tf.float32,2.5)
TA(None,2)
len(TA(tf.float32,2))
TA(tf.float32,2)[0]
TA(tf.float32,3).unstack([1.,2.,3.]).concat()
TA(tf.float32,0,dynamic_size=True,infer_shape=False).write(0,[1.]).write(1,[1.,2.]).stack()
""")
